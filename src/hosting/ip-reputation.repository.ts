import { sql } from 'kysely'
import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'
import type { IpNews } from './ip-news.ts'

/** Adds up connections, messages and failures. Rows are locked in the order of IP addresses, so that two calls cannot deadlock. */
export async function record(tx: Tx, news: readonly IpNews[], now: Date): Promise<void> {
  if (news.length === 0) return
  const rows = news
    .map((one) => ({ ...one, id: ulid() }))
    .sort((one, other) => (one.ip < other.ip ? -1 : 1))
  const columnsOfNews = sql`as news (id text, ip text, first_score float8, change float8, lowest float8,
    highest float8, connections bigint, messages bigint, spam bigint, bounces bigint,
    auth_failures bigint)`
  const at = now.toISOString()
  const inserted = await sql<{ ip_address: string }>`
    insert into ip_reputation (id, ip_address, reputation_score, first_seen, last_seen, updated_at)
    select id, ip, first_score, ${at}, ${at}, ${at}
    from json_to_recordset(${rows}::json) ${columnsOfNews} order by ip
    on conflict (ip_address) do nothing
    returning ip_address`.execute(tx)
  const fresh = inserted.rows.map(({ ip_address }) => ip_address)
  await sql`
    update ip_reputation set
      reputation_score = case when ip_address = any(${fresh}::text[]) then reputation_score
        else least(highest, greatest(lowest, reputation_score + change)) end,
      total_connections = total_connections + connections,
      total_messages = total_messages + messages,
      spam_count = spam_count + spam,
      bounce_count = bounce_count + bounces,
      auth_failure_count = auth_failure_count + auth_failures,
      -- At most once a minute: last_seen is indexed, and an update without an index change is much cheaper.
      last_seen = case when last_seen < ${at}::timestamptz - interval '1 minute' then ${at}::timestamptz
        else last_seen end,
      updated_at = ${at}
    from (
      select news.* from json_to_recordset(${rows}::json) ${columnsOfNews}
      join ip_reputation on ip_address = ip
      order by ip for update of ip_reputation
    ) as news
    where ip_address = ip`.execute(tx)
}

/** Stores a block for display only; the access rules enforce it. Null removes it. */
export const showBlock = (
  tx: Tx,
  ip: string,
  block: { reason: string; until: Date } | null,
  now: Date,
) =>
  tx
    .updateTable('ip_reputation')
    .set({
      block_reason: block?.reason ?? null,
      block_until: block?.until.toISOString() ?? null,
      updated_at: now.toISOString(),
    })
    .where('ip_address', '=', ip)
    .execute()
