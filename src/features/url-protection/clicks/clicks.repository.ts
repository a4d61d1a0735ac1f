import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'
import type { VerdictName } from '../checking/verdict.ts'

export interface Click {
  id: string
  organization_id: string
  url: string
  url_domain: string
  scan_result: VerdictName
  reasons: string[]
  client_network: string
  clicked_at: string
}

/** Clicks on links of an organization that is gone are not stored. */
export const insertMany = (db: Db, clicks: readonly Click[]) =>
  sql`insert into url_clicks
      (id, organization_id, url, url_domain, scan_result, reasons, client_network, clicked_at)
    select c.id, c.organization_id, c.url, c.url_domain, c.scan_result, c.reasons,
      c.client_network, c.clicked_at
    from jsonb_to_recordset(${JSON.stringify(clicks)}::text::jsonb) as c(
      id text, organization_id text, url text, url_domain text, scan_result text,
      reasons text[], client_network text, clicked_at timestamptz)
    join organizations o on o.id = c.organization_id
    on conflict (id) do nothing`.execute(db)

export interface ClickFilter {
  organization_id?: string
  scan_result?: VerdictName
  url_domain?: string
}

export async function list(db: Db, filter: ClickFilter, page: Page) {
  let query = db.selectFrom('url_clicks')
  if (filter.organization_id !== undefined) {
    query = query.where('organization_id', '=', filter.organization_id)
  }
  if (filter.scan_result !== undefined) query = query.where('scan_result', '=', filter.scan_result)
  if (filter.url_domain !== undefined) query = query.where('url_domain', '=', filter.url_domain)
  const items = await query
    .selectAll()
    .orderBy('clicked_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

/** Returns the number of deleted rows. */
export async function deleteOlder(db: Db, before: Date, portion: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from url_clicks where id in (
      select id from url_clicks where clicked_at < ${before.toISOString()}::timestamptz
      limit ${portion})`.execute(db)
  return Number(numAffectedRows)
}
