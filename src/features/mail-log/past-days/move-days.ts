import type { Core } from '../../../core.ts'
import { replaceDay } from '../../../database/days.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, LeaseLost, newLease, underLease } from '../../../jobs/lease.ts'
import { midnightOf } from '../../../lib/dates.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { ClickHouse } from '../../../outbound/clickhouse.ts'
import * as table from './log-table.ts'
import * as moves from './moves.repository.ts'

const LEASE_SECONDS = 120
/**
 * ClickHouse 18.16 does not force its files to disk. The kernel writes them within half a minute, so a copy
 * that is complete after this time has survived a power cut.
 */
const SETTLE_MS = 2 * MINUTE_MS

/**
 * Moves days of the log that are old enough to ClickHouse, oldest first. A round copies a day, or drops the
 * partition of one whose copy has settled and is still equal to it.
 */
export const moveDays: Chore = {
  name: 'mail-log-days',
  isPatient: true,
  async round(core) {
    const { clickhouse, config, db, now } = core
    if (!clickhouse) return false
    const lease = newLease(LEASE_SECONDS)
    const at = now().getTime()
    const endedBefore = midnightOf(new Date(at - config.MAIL_LOG_CLICKHOUSE_AFTER_DAYS * DAY_MS))
    const move = await moves.claim(db, lease, endedBefore, new Date(at - SETTLE_MS))
    if (!move) return false
    await underLease(core, 'mail_log_moves', { day: move.day }, lease, async (lost) => {
      try {
        if (move.copied_at === null) await copy(core, clickhouse, move, lease, lost)
        else await finish(core, clickhouse, move, lease)
      } finally {
        await moves.release(db, move.day, lease)
      }
    })
    return true
  },
}

/** Copies under a name of its own: rows that an interrupted copy still writes are in no other one. */
async function copy(
  { db, now }: Core,
  clickhouse: ClickHouse,
  { day, partition }: moves.Move,
  lease: Lease,
  lost: AbortSignal,
): Promise<void> {
  await table.createTable(clickhouse)
  const copy_id = `${day}-${ulid()}`
  await save(db, day, lease, { copy_id })
  await dropUnnamed(db, clickhouse)
  let row_count = 0
  for await (const rows of table.batchesOf(db, partition)) {
    lost.throwIfAborted()
    await table.insert(clickhouse, copy_id, rows)
    row_count += rows.length
  }
  await save(db, day, lease, { copied_at: now().toISOString(), row_count })
}

/** A copy that differs from its day is made again: a row was added, erased or superseded meanwhile. */
async function finish(
  { db, log, now }: Core,
  clickhouse: ClickHouse,
  { day, partition, copy_id }: moves.Move,
  lease: Lease,
): Promise<void> {
  const copied = await table.sumsInClickHouse(clickhouse, copy_id ?? '')
  const isEqual = await replaceDay(db, partition, async (tx) => {
    const { rows, checksum } = await table.sumsInPostgres(tx, partition)
    if (rows !== copied.rows || checksum !== copied.checksum) return false
    await save(tx, day, lease, { moved_at: now().toISOString() })
    await moves.countDay(tx, day, partition)
    return true
  })
  if (isEqual) {
    log.info({ day, rows: copied.rows }, 'day of the mail log moved to ClickHouse')
    return
  }
  log.warn({ day, rows: copied.rows }, 'day of the mail log changed, will be copied again')
  await save(db, day, lease, { copy_id: null, copied_at: null })
}

async function save(db: Core['db'], day: string, lease: Lease, changes: Changes): Promise<void> {
  if (!(await moves.update(db, day, lease, changes))) throw new LeaseLost()
}
type Changes = Parameters<typeof moves.update>[3]

/** Drops copies of interrupted moves and of days that have expired. */
export async function dropUnnamed(db: Core['db'], clickhouse: ClickHouse): Promise<void> {
  const present = await table.copiesPresent(clickhouse)
  // Read afterwards: a copy is named before its first row is there.
  const named = await moves.copyIds(db)
  for (const copyId of present.filter((one) => !named.has(one))) {
    await table.dropCopy(clickhouse, copyId)
  }
}
