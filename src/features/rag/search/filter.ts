import { type RawBuilder, sql } from 'kysely'

/** The documents to search. Only those of the organization are ever read. */
export interface Filter {
  organization_id: string
  domain_id?: string
  collection_id?: string
  sender?: string
  folder?: string
  date_from?: string
  date_to?: string
  has_attachment?: boolean
}

/** The join and the conditions, for a table that has `organization_id` and `document_id`. */
export function filtered(table: string, filter: Filter): RawBuilder<unknown> {
  const own = sql`${sql.ref(`${table}.organization_id`)} = ${filter.organization_id}`
  const conditions = conditionsOf(filter)
  if (conditions.length === 0) return sql`where ${own}`
  return sql`
    join rag_documents documents on documents.id = ${sql.ref(`${table}.document_id`)}
    where ${own} and ${sql.join(conditions, sql` and `)}`
}

function conditionsOf(filter: Filter): RawBuilder<unknown>[] {
  const { domain_id, collection_id, sender, folder, date_from, date_to, has_attachment } = filter
  const conditions: RawBuilder<unknown>[] = []
  if (domain_id !== undefined) conditions.push(sql`documents.domain_id = ${domain_id}`)
  if (collection_id !== undefined) conditions.push(sql`documents.collection_id = ${collection_id}`)
  if (sender !== undefined) {
    conditions.push(sql`strpos(lower(documents.sender), lower(${sender})) > 0`)
  }
  if (folder !== undefined) {
    conditions.push(sql`documents.folder_id in (select id from rag_folders where name = ${folder}
      and organization_id = ${filter.organization_id})`)
  }
  if (date_from !== undefined) conditions.push(sql`documents.date >= ${date_from}::timestamptz`)
  if (date_to !== undefined) conditions.push(sql`documents.date <= ${date_to}::timestamptz`)
  if (has_attachment !== undefined) {
    conditions.push(sql`documents.has_attachment = ${has_attachment}`)
  }
  return conditions
}
