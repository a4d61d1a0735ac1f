import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import {
  heldBy,
  isFree,
  type Lease,
  leased,
  newLease,
  setLeased,
  setReleased,
} from '../../../jobs/lease.ts'

const RENEW_MS = 2000
const SPARE_SECONDS = 5

interface Needs {
  db: Db
  /** The longest an attempt may take. */
  timeoutSeconds: number
  /** The lanes that have an attempt in progress. */
  busyLanes(): number[]
  /** Called after every renewal with the lanes that this daemon may start attempts in. */
  onChange(lanes: ReadonlySet<number>): void
}

/**
 * The lanes that this daemon has leased. A lane has one owner at a time, so each queue entry is with
 * one daemon; daemons that run side by side share the lanes evenly.
 */
export class LaneLease {
  readonly #needs: Needs
  readonly #lease: Lease
  #lanes: ReadonlySet<number> = new Set()
  #renewedAt = Number.NEGATIVE_INFINITY
  #renewing: Promise<void> | undefined

  constructor(needs: Needs) {
    this.#needs = needs
    this.#lease = newLease(needs.timeoutSeconds + SPARE_SECONDS)
  }

  get lanes(): number[] {
    return [...this.#lanes]
  }

  owns(lane: number): boolean {
    return this.#lanes.has(lane)
  }

  /** An attempt must end before the lease does, or another daemon would repeat it. */
  mayStart(): boolean {
    return Date.now() + this.#needs.timeoutSeconds * 1000 < this.#expiresAt
  }

  async renewWhenDue(): Promise<void> {
    if (Date.now() <= this.#renewedAt + RENEW_MS) return
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    await this.#renewing
  }

  async release(): Promise<void> {
    await releaseAll(this.#needs.db, this.#lease)
  }

  get #expiresAt(): number {
    return this.#renewedAt + this.#lease.seconds * 1000
  }

  async #renew(): Promise<void> {
    const { db, busyLanes, onChange } = this.#needs
    const startedAt = Date.now()
    // While the lease was expired, another daemon may have worked on the jobs held here.
    if (startedAt >= this.#expiresAt) onChange(new Set())
    const { lanes, share } = await leaseLanes(db, this.#lease)
    this.#renewedAt = startedAt
    const busy = new Set(busyLanes())
    const idle = lanes.filter((lane) => !busy.has(lane))
    const surplus = idle.slice(0, Math.max(0, lanes.length - share))
    this.#lanes = new Set(lanes.filter((lane) => !surplus.includes(lane)))
    onChange(this.#lanes)
    // Released last: from onChange on, nothing starts in these lanes.
    if (surplus.length > 0) await releaseLanes(db, this.#lease, surplus)
  }
}

/**
 * Renews the lanes of this daemon and takes expired ones up to its fair share. Returns the lanes and
 * the share. A daemon that died loses its lanes when their leases expire.
 */
async function leaseLanes(db: Db, lease: Lease): Promise<{ lanes: number[]; share: number }> {
  const { lease_owner: owner, lease_until: until } = leased(lease)
  const { rows } = await sql<{ lanes: number[]; share: number }>`
    with present as (
      insert into webhook_daemon_heartbeats (daemon_id, expires_at) values (${owner}, ${until})
      on conflict (daemon_id) do update set expires_at = excluded.expires_at
    ), gone as (
      delete from webhook_daemon_heartbeats
      where daemon_id <> ${owner} and expires_at < now() - interval '1 hour'
    ), fair as (
      select ceil(64.0 / (count(*) + 1))::int as share from webhook_daemon_heartbeats
      where daemon_id <> ${owner} and expires_at > now()
    ), candidates as (
      select lane from webhook_lanes
      where ${heldBy(lease)} or ${isFree}
      order by (${heldBy(lease)}) desc nulls last, lane
      limit greatest(
        (select share from fair),
        (select count(*) from webhook_lanes where ${heldBy(lease)}))
      for update skip locked
    ), leased as (
      update webhook_lanes set ${setLeased(lease)}
      where lane in (select lane from candidates)
      returning lane
    )
    select (select coalesce(array_agg(lane order by lane), '{}') from leased) as lanes,
      (select share from fair) as share`.execute(db)
  return rows[0] as { lanes: number[]; share: number }
}

const releaseLanes = (db: Db, lease: Lease, lanes: readonly number[]) =>
  sql`
    update webhook_lanes set ${setReleased}
    where ${heldBy(lease)} and lane = any(${lanes}::smallint[])`.execute(db)

const releaseAll = (db: Db, lease: Lease) =>
  sql`
    with gone as (delete from webhook_daemon_heartbeats where daemon_id = ${lease.owner})
    update webhook_lanes set ${setReleased} where ${heldBy(lease)}`.execute(db)
