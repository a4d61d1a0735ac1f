import type { Caller } from '../../access/caller.ts'
import { invalidField, Unprocessable } from '../../errors.ts'
import { parseIso } from '../../lib/dates.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { TENANT_VACATION } from '../../sieve/main-script.ts'
import { tenantVacation } from '../../sieve/tenant-vacation.ts'
import { readLayout, runAll } from '../mailbox/script-store/layout.ts'
import { noteVacation } from '../mailbox/script-store/script-store.repository.ts'
import type { ScriptStore } from '../mailbox/script-store/script-store.ts'
import { deactivate, type FilterService, refuseDisplacing } from './filters.service.ts'

const DAY_SECONDS = 86_400

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

/** The responder that a tenant sets for a mailbox, in a script of its own. */
export const tenantVacationService = ({ scripts, filters }: Needs) => ({
  async set(caller: Caller, email: string, sent: Sent) {
    const { enabled, message: text, replace = false } = sent
    const of = await filters.account(caller, email)
    const message = text?.trim() ?? ''
    if (enabled && message === '') {
      throw new Unprocessable('Write a message, or send enabled: false')
    }
    const from = dayOf('start_date', sent.start_date)
    const to = dayOf('end_date', sent.end_date)
    if (from && to && from > to) throw invalidField('end_date', 'Must not be before start_date')
    await scripts.edit(caller, of, async (session, tx) => {
      await noteVacation(tx, of.id, enabled ? message : null)
      const layout = await readLayout(session)
      if (!enabled) return deactivate(session, layout, TENANT_VACATION)
      await refuseDisplacing(session, layout, TENANT_VACATION, replace)
      const script = tenantVacation({
        address: of.email,
        subject: sent.subject ?? 'Out of Office',
        message,
        days: Math.max(1, Math.floor((sent.reply_interval ?? DAY_SECONDS) / DAY_SECONDS)),
        from,
        to,
        exceptDomain: sent.external_only ? domainOf(of.email) : undefined,
      })
      await session.put(TENANT_VACATION, script)
      await runAll(session, { vacation: true })
    })
    return { enabled }
  },
})

function dayOf(field: string, sent: string | null | undefined): string | undefined {
  if (!sent) return undefined
  const day = parseIso(sent)
  if (!day) throw invalidField(field, 'Must be an ISO date or datetime')
  return day.toISOString().slice(0, 10)
}
