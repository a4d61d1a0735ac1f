import type { Caller } from '../../../access/caller.ts'
import { Unprocessable } from '../../../errors.ts'
import { type Vacation, type VacationTerms, vacation } from '../../../sieve/vacation.ts'
import { holderOf } from '../holder.ts'
import { readComponent, saveComponent } from '../script-store/layout.ts'
import { noteVacation, type ScriptStore } from '../script-store/script-store.ts'

export type VacationService = ReturnType<typeof vacationService>

export const vacationService = (scripts: ScriptStore) => ({
  async get(caller: Caller) {
    const { email } = holderOf(caller)
    const { settings, managed } = await scripts.read(email, (session) =>
      readComponent(session, vacation),
    )
    return { ...settings, managed }
  },

  /** `terms` limit the replies to some days. */
  async save(caller: Caller, sent: Partial<Vacation>, terms?: VacationTerms) {
    const holder = holderOf(caller)
    const settings = cleaned(sent)
    await scripts.edit(caller, holder, async (session, tx) => {
      await noteVacation(tx, holder.id, settings)
      const written = { ...settings, ...(terms && { terms }) }
      await saveComponent(session, vacation.name, vacation.write(written, holder.email))
    })
    return { ...settings, managed: true }
  },
})

function cleaned(sent: Partial<Vacation>): Vacation {
  const settings = {
    enabled: sent.enabled ?? false,
    subject: sent.subject?.trim() || null,
    message: sent.message?.trim() || null,
    start_date: sent.start_date?.trim() || null,
    end_date: sent.end_date?.trim() || null,
  }
  if (settings.enabled && settings.message === null) {
    throw new Unprocessable('Write a message, or turn the vacation responder off')
  }
  return settings
}
