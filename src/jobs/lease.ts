import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import { namedMutex } from '../lib/mutex.ts'
import { ulid } from '../lib/ulid.ts'

/**
 * A lease gives one process the exclusive right to work on a row until a time. The process renews it
 * while it works and releases it at the end. After a crash the lease ends by itself and another process
 * claims the row. Every write of the work must check `heldBy` in its own statement or transaction: a
 * process that lost its lease changes no row there and must stop.
 */
export interface Lease {
  readonly owner: string
  readonly seconds: number
}

/** The name of this process; the heartbeat has it too. */
export const PROCESS = ulid()

/**
 * A lease of its own for each claim, so that a process also notices that it lost one to itself. Its
 * owner begins with the process: when the heartbeat of a process ends, its leases end (`free_claims`).
 */
export const newLease = (seconds: number): Lease => ({ owner: `${PROCESS}.${ulid()}`, seconds })

/** Tables with the columns `lease_owner` and `lease_until`. */
export type LeasedTable = {
  [Name in keyof Tables]: 'lease_until' extends keyof Tables[Name] ? Name : never
}[keyof Tables]

type WithOrganization = {
  [Name in keyof Tables]: 'organization_id' extends keyof Tables[Name] ? Name : never
}[keyof Tables]

/** The primary key of a row: its columns and their values. */
type Key = Record<string, string | number | boolean>

// clock_timestamp(), because now() is the start of a transaction that may already be old.
const endOf = ({ seconds }: Lease) =>
  sql<string>`clock_timestamp() + make_interval(secs => ${seconds})`

/** Values of the lease columns in an update that claims or renews. */
export const leased = (lease: Lease) => ({ lease_owner: lease.owner, lease_until: endOf(lease) })

/** The assignments of `leased`, for an update in SQL. */
export const setLeased = (lease: Lease) =>
  sql`lease_owner = ${lease.owner}, lease_until = ${endOf(lease)}`

/** Values of the lease columns in an update that ends the work. */
export const released = { lease_owner: null, lease_until: '-infinity' } as const

/** The assignments of `released`, for an update in SQL. */
export const setReleased = sql`lease_owner = null, lease_until = '-infinity'`

/** No process holds the row. */
export const isFree = sql<SqlBool>`lease_until <= now()`

/** The row still belongs to this lease. */
export const heldBy = ({ owner }: Lease) => sql<SqlBool>`lease_owner = ${owner}`

const matches = (key: Key) =>
  sql.join(
    Object.entries(key).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
    sql` and `,
  )

interface Claim {
  /** The columns of the primary key. */
  key: readonly string[]
  /** Rows that have work to do; free ones among them are claimed. */
  where: RawBuilder<unknown>
  orderBy: RawBuilder<unknown>
  /** Null for no limit. */
  limit?: number | null
  /** Further assignments of the claim, such as the count of attempts. */
  set?: RawBuilder<unknown>
  returning: RawBuilder<unknown>
}

/** Claims free rows that have work to do. Concurrent claims skip each other's rows. */
export async function claimRows<Row>(db: Db, table: LeasedTable, lease: Lease, claim: Claim) {
  const { rows } = await claiming<Row>(table, lease, claim).execute(db)
  return rows
}

const inTurn = namedMutex()

/**
 * Claims one row of an organization for which this process holds no row of the kind: many or long rows of
 * one organization leave room for those of others. Claims of the process take turns, so that they see
 * each other.
 */
export async function claimForIdle<Row>(
  db: Db,
  table: LeasedTable & WithOrganization,
  lease: Lease,
  { where, ...claim }: Claim,
) {
  const organization = sql`coalesce(organization_id, '')`
  const busy = sql`select ${organization} from ${sql.table(table)}
    where (${where}) and not (${isFree}) and starts_with(lease_owner, ${PROCESS})`
  const isIdle = sql`${organization} <> all(array(${busy}))`
  const rows = await inTurn([table], () =>
    claimRows<Row>(db, table, lease, { ...claim, where: sql`(${where}) and ${isIdle}` }),
  )
  return rows[0]
}

/** The statement of `claimRows`, to embed in a larger one. */
export function claiming<Row>(table: LeasedTable, lease: Lease, claim: Claim): RawBuilder<Row> {
  const { key, where, orderBy, limit = 1, set, returning } = claim
  const columns = sql.join(key.map((column) => sql.ref(column)))
  return sql<Row>`
    update ${sql.table(table)} set ${setLeased(lease)}${set ? sql`, ${set}` : sql``}
    where (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${isFree} and (${where})
      order by ${orderBy} limit ${limit} for update skip locked)
    returning ${returning}`
}

/**
 * Claims or renews one named row, and inserts it the first time; false while another lease holds it.
 * `force` takes it from the other one.
 */
export async function claimNamed(
  db: Db,
  table: LeasedTable,
  key: Key,
  lease: Lease,
  force = false,
): Promise<boolean> {
  const columns = sql.join(Object.keys(key).map((column) => sql.ref(column)))
  const current = (column: string) => sql.ref(`${table}.${column}`)
  const { rows } = await sql`
    insert into ${sql.table(table)} (${columns}, lease_owner, lease_until)
    values (${sql.join(Object.values(key))}, ${lease.owner}, ${endOf(lease)})
    on conflict (${columns}) do update
      set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
      where ${force} or ${current('lease_owner')} = excluded.lease_owner
        or ${current('lease_until')} <= now()
    returning lease_owner`.execute(db)
  return rows.length > 0
}

/** False when the row does not belong to the lease any more. */
export async function renewLease(
  db: Db,
  table: LeasedTable,
  key: Key,
  lease: Lease,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set lease_until = ${endOf(lease)}
    where ${matches(key)} and ${heldBy(lease)}`.execute(db)
  return numAffectedRows === 1n
}

export const releaseLease = (db: Db, table: LeasedTable, key: Key, lease: Lease) =>
  sql`
    update ${sql.table(table)} set ${setReleased}
    where ${matches(key)} and ${heldBy(lease)}`.execute(db)

/** The work stops: its row belongs to another lease, or may by now. */
export class LeaseLost extends Error {
  constructor() {
    super('another process has taken the work over')
  }
}

// A process must consider its lease lost before another one may claim the row.
const SAFE_SHARE = 0.8
const RENEWALS_PER_LEASE = 3

export type KeptLease = ReturnType<typeof keepLease>

/** Renews a lease in the background until `stop`, and signals when it is lost. */
export function keepLease(
  { seconds }: Lease,
  renew: () => Promise<boolean>,
  { log, claimedAt = performance.now() }: Pick<Core, 'log'> & { claimedAt?: number },
) {
  const safeMs = seconds * 1000 * SAFE_SHARE
  const lost = new AbortController()
  const lose = () => lost.abort(new LeaseLost())
  const endsIn = () => renewedAt + safeMs - performance.now()
  let renewedAt = claimedAt
  // A renewal may return after the lease has ended, when the process had no processor time.
  const loseAtEnd = () => setTimeout(lose, Math.max(0, endsIn())).unref()
  let deadline = loseAtEnd()
  let renewing: Promise<void> | undefined

  async function renewOnce(): Promise<void> {
    const sentAt = performance.now()
    try {
      if (!(await renew())) return lose()
    } catch (error) {
      // The next renewal may succeed; until then the deadline decides.
      log.warn({ err: error }, 'lease renewal failed')
      return
    }
    renewedAt = Math.max(renewedAt, sentAt)
    clearTimeout(deadline)
    deadline = loseAtEnd()
  }

  const renewNow = (): Promise<void> => {
    renewing ??= renewOnce().finally(() => {
      renewing = undefined
    })
    return renewing
  }
  const timer = setInterval(() => void renewNow(), (seconds * 1000) / RENEWALS_PER_LEASE).unref()

  return {
    /** Aborts with LeaseLost as its reason. */
    signal: lost.signal,
    /** Returns whether no other process can hold the row for this long. */
    lastsFor: (ms: number) => !lost.signal.aborted && endsIn() > ms,
    renewNow,
    async stop(): Promise<void> {
      clearInterval(timer)
      await renewing
      clearTimeout(deadline)
    },
  }
}

/** Does the work on a claimed row and renews its lease meanwhile. */
export async function underLease<Result>(
  { db, log }: Pick<Core, 'db' | 'log'>,
  table: LeasedTable,
  key: Key,
  lease: Lease,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const kept = keepLease(lease, () => renewLease(db, table, key, lease), { log })
  try {
    return await work(kept.signal)
  } finally {
    await kept.stop()
  }
}
