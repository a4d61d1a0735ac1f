import type { Db, Tx } from '../../../database/database.ts'
import { auditCommand } from '../../../http/command-audit.ts'
import type { IspLimit } from './isp-limits.ts'
import { destinationOf, storeLimit } from './limit-changes.ts'
import * as limits from './limits.repository.ts'
import { LimitNotFound } from './optimizer.errors.ts'
import { stageOf } from './warm-up.ts'
import * as changes from './warm-up-changes.ts'
import * as warming from './warming.repository.ts'

interface Why {
  reason: string
  now: Date
}

export async function warmUps(db: Db, now: Date) {
  const all = await warming.all(db)
  const ips = all.map(({ ip_address }) => ip_address)
  const sent = await warming.sentToday(db, ips, now)
  return all.map(({ told_day: _, ...schedule }) => ({
    ...schedule,
    ...stageOf(schedule, now),
    sent_today: sent.get(schedule.ip_address) ?? 0,
  }))
}

export const beginWarmUp = (db: Db, schedule: warming.NewSchedule, { reason, now }: Why) =>
  db.transaction().execute(async (tx) => {
    const begun = await changes.begin(tx, schedule, now)
    await audit(tx, 'create_warm_up', begun, { ...schedule, reason }, now)
    return { ...begun, ...stageOf(begun, now) }
  })

export const alterWarmUp = (
  db: Db,
  ip: string,
  change: changes.WarmUpChange,
  { reason, now }: Why,
) =>
  db.transaction().execute(async (tx) => {
    const altered = await changes.alter(tx, ip, change, now)
    await audit(tx, 'update_warm_up', altered, { ...change, reason }, now)
    return { ...altered, ...stageOf(altered, now) }
  })

export const endWarmUp = (db: Db, ip: string, { reason, now }: Why) =>
  db.transaction().execute(async (tx) => {
    const ended = await changes.end(tx, ip)
    await audit(tx, 'delete_warm_up', ended, { reason }, now)
    return { ip_address: ended.ip_address, organization_id: ended.organization_id }
  })

export const setLimit = (db: Db, domain: string, limit: Partial<IspLimit>, { reason, now }: Why) =>
  db.transaction().execute(async (tx) => {
    const stored = await storeLimit(tx, domain, limit, now)
    await auditLimit(tx, 'set_isp_limit', stored.domain, { ...limit, reason }, now)
    return stored
  })

export const removeLimit = (db: Db, sent: string, { reason, now }: Why) =>
  db.transaction().execute(async (tx) => {
    const domain = destinationOf(sent)
    if (!(await limits.removeLimit(tx, domain))) throw new LimitNotFound()
    await auditLimit(tx, 'delete_isp_limit', domain, { reason }, now)
    return { domain }
  })

const audit = (
  tx: Tx,
  action: string,
  { ip_address, organization_id }: { ip_address: string; organization_id: string | null },
  body: object,
  now: Date,
) =>
  auditCommand(
    tx,
    {
      action,
      target: { type: 'ip_address', id: ip_address },
      organizationId: organization_id,
      body,
    },
    now,
  )

const auditLimit = (tx: Tx, action: string, domain: string, body: object, now: Date) =>
  auditCommand(tx, { action, target: { type: 'domain', id: domain }, body }, now)
