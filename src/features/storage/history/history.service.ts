import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { organizationLimit } from '../../../hosting/quota-configuration.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { toMailAddress } from '../../../lib/mail-address.ts'
import { percent } from '../../../lib/percent.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { StorageOwnerNotFound } from '../storage.errors.ts'
import * as storage from '../storage.repository.ts'
import { domainQuotas, mailboxQuotas } from '../usage/alerts.ts'
import { type EntityType, STORAGE_KINDS, totalOf } from '../usage/kinds.ts'
import { forecast } from './forecast.ts'
import * as history from './history.repository.ts'

/** An organization, domain or mailbox with its quota. */
export interface StorageOwner {
  entity_type: EntityType
  identifier: string
  id: string
  quota: number | null
  last_calculated_at: string | null
}

export type HistoryService = ReturnType<typeof historyService>

/** Everything that is stored for an organization, a domain or a mailbox, now and over time. */
export function historyService({ config, db, now }: Pick<Core, 'config' | 'db' | 'now'>) {
  async function find(
    { scope }: Pick<Caller, 'scope'>,
    entity_type: EntityType,
    sent: string,
  ): Promise<StorageOwner> {
    if (entity_type === 'organization') {
      const row = await history.findOrganization(db, scope, sent)
      if (!row) throw new StorageOwnerNotFound()
      const quota = organizationLimit(row.storage_quotas) ?? null
      return { entity_type, identifier: row.id, id: row.id, quota, last_calculated_at: null }
    }
    if (entity_type === 'domain') {
      const row = await storage.findDomain(db, scope, toDomainName(sent) ?? '')
      if (!row) throw new StorageOwnerNotFound()
      const quota = domainQuotas(row, config).total_storage_limit
      const last_calculated_at = row.last_storage_calculation
      return { entity_type, identifier: row.domain, id: row.id, quota, last_calculated_at }
    }
    const row = await storage.findMailbox(db, scope, toMailAddress(sent)?.address ?? '')
    if (!row) throw new StorageOwnerNotFound()
    const quota = mailboxQuotas(row, config).total_storage_limit
    const last_calculated_at = row.last_storage_calculation
    return { entity_type, identifier: row.email, id: row.id, quota, last_calculated_at }
  }

  /** Quotas limit mail; calendars have limits of their own. */
  async function usage(owner: StorageOwner) {
    const used = await history.usedBytes(db, { type: owner.entity_type, id: owner.id })
    return {
      by_type: [
        ...STORAGE_KINDS.map(({ name }) => ({ storage_type: name, used_bytes: used[name] ?? 0 })),
        { storage_type: 'total', used_bytes: totalOf(used) },
      ],
      quota_bytes: owner.quota,
      usage_percentage: percent(used.mailbox ?? 0, owner.quota ?? 0),
    }
  }

  return {
    find,
    usage,
    children: ({ entity_type, id }: StorageOwner, limit: number) =>
      history.children(db, entity_type, id, limit),

    async history(caller: Pick<Caller, 'scope'>, type: EntityType, name: string, days: number) {
      const owner = await find(caller, type, name)
      const today = now().toISOString().slice(0, 10)
      const since = new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10)
      const [current, stored] = await Promise.all([
        usage(owner),
        history.storedDays(db, owner.id, since),
      ])
      const each = everyDay(stored, since, today)
      // The day is not over: what is stored now counts for it.
      const used = Object.fromEntries(
        current.by_type.map(({ storage_type, used_bytes }) => [storage_type, used_bytes]),
      )
      if (each.length > 0) each[each.length - 1] = { date: today, used }
      return {
        entity_type: type,
        identifier: owner.identifier,
        ...current,
        days: each.map((day) => ({
          date: day.date,
          used_bytes: totalOf(day.used),
          mailbox_bytes: day.used.mailbox ?? 0,
        })),
        forecast: forecast(
          each.map((day) => ({ date: day.date, used_bytes: day.used.mailbox ?? 0 })),
          owner.quota,
        ),
        generated_at: now().toISOString(),
      }
    },
  }
}

/** One entry for each day from the first figure on; a day without a row is like the one before. */
function everyDay(stored: readonly history.StoredDay[], since: string, today: string) {
  const days: { date: string; used: Record<string, number> }[] = []
  const [first] = stored
  if (first === undefined) return days
  let used: Record<string, number> = {}
  let at = 0
  const start = first.day < since ? since : first.day
  for (let time = Date.parse(start); time <= Date.parse(today); time += DAY_MS) {
    const date = new Date(time).toISOString().slice(0, 10)
    for (let row = stored[at]; row !== undefined && row.day <= date; row = stored[++at]) {
      used = { ...used, [row.storage_type]: row.used_bytes }
    }
    days.push({ date, used })
  }
  return days
}
