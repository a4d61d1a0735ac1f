import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const KEPT_SECONDS = 24 * 3600

/**
 * Whether this transaction is the one that stores the message. A second daemon waits here until the
 * first has committed, and then knows; if the first fails instead, it takes over.
 */
export async function claimMessage(
  tx: Tx,
  { fingerprint, occurrence, windowSeconds }: Claim,
): Promise<boolean> {
  const { rows } = await sql`
    insert into webhook_channel_messages as known (fingerprint, occurrence)
    values (${fingerprint}, ${occurrence})
    on conflict (fingerprint, occurrence) do update set received_at = now()
      where known.received_at < now() - make_interval(secs => ${windowSeconds})
    returning fingerprint`.execute(tx)
  return rows.length > 0
}

export interface Claim {
  fingerprint: string
  occurrence: number
  /** For so long the same fingerprint means the same message. */
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
