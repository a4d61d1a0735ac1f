import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { DAY_SECONDS } from '../../../lib/time.ts'

const KEPT_SECONDS = DAY_SECONDS

/**
 * Returns whether this transaction stores the message. A second daemon waits here until the first one
 * has committed; if the first one rolls back, the second one stores the message.
 */
export async function claimMessage(
  tx: Tx,
  { fingerprint, occurrence, windowSeconds }: Claim,
): Promise<boolean> {
  const { rows } = await sql`
    insert into webhook_channel_messages as existing (fingerprint, occurrence)
    values (${fingerprint}, ${occurrence})
    on conflict (fingerprint, occurrence) do update set received_at = now()
      where existing.received_at < now() - make_interval(secs => ${windowSeconds})
    returning fingerprint`.execute(tx)
  return rows.length > 0
}

export interface Claim {
  fingerprint: string
  occurrence: number
  /** During this time an equal fingerprint means the same message. */
  windowSeconds: number
}

export async function deleteOldMessages(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_channel_messages where (fingerprint, occurrence) in (
      select fingerprint, occurrence from webhook_channel_messages
      where received_at < now() - make_interval(secs => ${KEPT_SECONDS})
      order by received_at limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
