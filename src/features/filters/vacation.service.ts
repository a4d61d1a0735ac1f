import type { Caller } from '../../access/caller.ts'
import { invalidField, Unprocessable } from '../../errors.ts'
import { parseIso } from '../../lib/dates.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { DAY_SECONDS } from '../../lib/time.ts'
import type { Session } from '../../mail/managesieve/session.ts'
import { vacation } from '../../sieve/vacation.ts'
import { readComponent, readLayout, saveComponent } from '../mailbox/script-store/layout.ts'
import { noteVacation, type ScriptStore } from '../mailbox/script-store/script-store.ts'
import { type FilterService, refuseConflict } from './filters.service.ts'

interface Sent {
  enabled: boolean
  subject?: string
  message?: string | null
  start_date?: string | null
  end_date?: string | null
  reply_interval?: number
  external_only?: boolean
  replace?: boolean
}

interface Needs {
  scripts: ScriptStore
  filters: Pick<FilterService, 'account'>
}

export type TenantVacationService = ReturnType<typeof tenantVacationService>

/**
 * The vacation responder of a mailbox, set by its tenant. It is the holder's own one, so there is one
 * responder, and both sides see and change it.
 */
export const tenantVacationService = ({ scripts, filters }: Needs) => ({
  async set(caller: Caller, email: string, sent: Sent) {
    const { enabled, message: text, replace = false } = sent
    const mailbox = await filters.account(caller, email)
    const message = text?.trim() ?? ''
    if (enabled && message === '') {
      throw new Unprocessable('Write a message, or send enabled: false')
    }
    const from = dayOf('start_date', sent.start_date)
    const to = dayOf('end_date', sent.end_date)
    if (from && to && from > to) throw invalidField('end_date', 'Must not be before start_date')
    await scripts.edit(caller, mailbox, async (session, tx) => {
      await noteVacation(tx, mailbox.id, { enabled, message: enabled ? message : null })
      if (!enabled) return turnOff(session, mailbox.email)
      refuseConflict(await readLayout(session), vacation.name, replace)
      const settings = {
        enabled,
        subject: sent.subject ?? 'Out of Office',
        message,
        start_date: from ?? null,
        end_date: to ?? null,
        terms: {
          days: Math.max(1, Math.floor((sent.reply_interval ?? DAY_SECONDS) / DAY_SECONDS)),
          from: from ?? null,
          to: to ?? null,
          except_domain: sent.external_only ? domainOf(mailbox.email) : null,
        },
      }
      await saveComponent(session, vacation.name, vacation.write(settings, mailbox.email))
    })
    return { enabled }
  },
})

/** Keeps the texts for the next time. */
async function turnOff(session: Session, email: string): Promise<void> {
  const { settings, managed } = await readComponent(session, vacation)
  if (managed && !settings.enabled) return
  await session.put(vacation.name, vacation.write({ ...settings, enabled: false }, email))
}

function dayOf(field: string, sent: string | null | undefined): string | undefined {
  if (!sent) return undefined
  const day = parseIso(sent)
  if (!day) throw invalidField(field, 'Must be an ISO date or datetime')
  return day.toISOString().slice(0, 10)
}
