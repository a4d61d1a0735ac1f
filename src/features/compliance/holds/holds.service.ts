import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { invalidField } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { parseUpperBound } from '../../../lib/dates.ts'
import { EMAIL_PATTERN } from '../../../lib/email.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { HoldNotFound, HoldReleased } from '../compliance.errors.ts'
import * as event from '../compliance.events.ts'
import { lockOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { userEmail } from '../user-email.ts'
import * as holds from './holds.repository.ts'

const EMAIL = new RegExp(EMAIL_PATTERN)

interface NewHold {
  organization_id: string
  name: string
  description?: string | null
  custodians?: string[]
  end_date?: string | null
  reason: string
}

export type HoldService = ReturnType<typeof holdService>

export function holdService({
  change,
  db,
  events,
  now,
}: Pick<Core, 'change' | 'db' | 'events' | 'now'>) {
  return {
    async list(filter: holds.HoldFilter, page: Page) {
      const { items, total } = await holds.list(db, filter, page)
      return paginated(items, total, page)
    },

    async check(email: string) {
      const user_email = userEmail(email)
      const covering = await holds.coveringAddress(db, user_email, now())
      return { user_email, on_hold: covering.length > 0, holds: covering }
    },

    async place(caller: Caller, sent: NewHold) {
      const custodians = custodiansOf(sent.custodians ?? [])
      const end = endOf(sent.end_date, now())
      return change(caller, async (tx) => {
        if (!(await lockOrganization(tx, sent.organization_id))) throw new OrganizationNotFound()
        const foreign = await holds.notOf(tx, sent.organization_id, custodians)
        if (foreign.length > 0) {
          const names = foreign.slice(0, 5).join(', ')
          throw invalidField('custodians', `No address of this organization: ${names}`)
        }
        const at = now().toISOString()
        const hold = await holds.insert(tx, {
          organization_id: sent.organization_id,
          name: sent.name,
          description: sent.description ?? null,
          custodians,
          reason: sent.reason,
          start_date: at,
          end_date: end,
          created_by: caller.email ?? caller.id,
          created_at: at,
        })
        const { id: hold_id, name, organization_id, end_date } = hold
        const details = { hold_id, name, custodians, end_date, reason: sent.reason }
        const { user_email } = payloadOf(hold, sent.reason)
        const row = { action: 'legal_hold.placed', organization_id, user_email, details }
        await record(tx, caller, row, now())
        const about = { org_id: organization_id }
        await events.emit(tx, event.HoldPlaced, about, payloadOf(hold, sent.reason))
        return hold
      })
    },

    release: (caller: Caller, id: number, reason: string) =>
      change(caller, async (tx) => {
        const before = await holds.lock(tx, id)
        if (!before) throw new HoldNotFound()
        if (!before.active) throw new HoldReleased()
        return releaseHold({ events, now }, tx, caller, id, reason)
      }),
  }
}

/** Without a caller the system releases it. */
export async function releaseHold(
  { events, now }: Pick<Core, 'events' | 'now'>,
  tx: Tx,
  caller: Caller | undefined,
  id: number,
  reason: string,
) {
  const hold = await holds.release(tx, id, caller?.email ?? caller?.id ?? 'system', reason, now())
  const { organization_id } = hold
  const { user_email } = payloadOf(hold, reason)
  const details = { hold_id: id, name: hold.name, reason }
  const row = { action: 'legal_hold.released', organization_id, user_email, details }
  await record(tx, caller, row, now())
  await events.emit(tx, event.HoldReleased, { org_id: organization_id }, payloadOf(hold, reason))
  return hold
}

const payloadOf = (hold: Awaited<ReturnType<typeof holds.insert>>, reason: string) => ({
  hold_id: hold.id,
  organization_id: hold.organization_id,
  custodians: hold.custodians,
  user_email: hold.custodians.length === 1 ? (hold.custodians[0] ?? null) : null,
  reason,
})

function custodiansOf(sent: string[]): string[] {
  const addresses = sent.map((address) => address.trim().toLowerCase())
  const wrong = addresses.findIndex((address) => address.length > 254 || !EMAIL.test(address))
  if (wrong !== -1) {
    throw invalidField('custodians', `Entry ${wrong + 1} is not an email address`)
  }
  return [...new Set(addresses)]
}

function endOf(sent: string | null | undefined, now: Date): string | null {
  if (sent === undefined || sent === null) return null
  const end = parseUpperBound(sent)
  if (!end) throw invalidField('end_date', 'Must be an ISO date or datetime, or null')
  if (end <= now) throw invalidField('end_date', 'Must lie in the future')
  return end.toISOString()
}
