import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

export const MARK_BEGIN = '\u0001'
export const MARK_END = '\u0002'
const OPTIONS = `StartSel=${MARK_BEGIN}, StopSel=${MARK_END}, MaxWords=40, MinWords=20, MaxFragments=0`

interface Row {
  chunk_id: number
  email_id: string
  collection_id: string
  source: 'mail' | 'api'
  mailbox: string | null
  folder: string | null
  message_id: string | null
  document_id: string | null
  subject: string | null
  from: string | null
  to: string | null
  date: string | null
  has_attachment: boolean
  headline: string
}

/** Returns the documents of some chunks. Checks the organization again, as the ids are not trusted. */
export async function show(
  db: Db,
  organizationId: string,
  chunkIds: number[],
  query: string,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select chunks.id as chunk_id, documents.id as email_id, documents.collection_id,
      documents.source, accounts.email as mailbox, folders.name as folder, documents.message_id,
      documents.external_id as document_id, documents.subject, documents.sender as "from",
      documents.recipients as "to", documents.date, documents.has_attachment,
      ts_headline(documents.language::regconfig, chunks.text, ${query}::tsquery, ${OPTIONS})
        as headline
    from rag_chunks chunks
    join rag_documents documents on documents.id = chunks.document_id
    left join email_accounts accounts on accounts.id = documents.email_account_id
    left join rag_folders folders on folders.id = documents.folder_id
    where chunks.id = any(${chunkIds}::bigint[])
      and documents.organization_id = ${organizationId}
  `.execute(db)
  return rows
}

/** Does not wait for the disk on commit: a power cut may lose this transaction, but no other. */
export const commitLater = (tx: Tx) => sql`set local synchronous_commit = off`.execute(tx)
