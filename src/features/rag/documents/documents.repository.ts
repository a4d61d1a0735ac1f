import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'
import { countOf } from './store.repository.ts'

/** Newest first. */
export async function list(db: Db, organizationId: string, page: Page) {
  const documents = await db
    .selectFrom('rag_documents')
    .innerJoin('domains', 'domains.id', 'rag_documents.domain_id')
    .leftJoin('email_accounts', 'email_accounts.id', 'rag_documents.email_account_id')
    .leftJoin('rag_folders', 'rag_folders.id', 'rag_documents.folder_id')
    .select([
      'rag_documents.id',
      'rag_documents.collection_id',
      'domains.domain',
      'rag_documents.source',
      'rag_documents.external_id as document_id',
      'email_accounts.email as mailbox',
      'rag_folders.name as folder',
      'rag_documents.subject',
      'rag_documents.sender as from',
      'rag_documents.date',
      'rag_documents.size_bytes',
      'rag_documents.chunk_count',
      'rag_documents.indexed_at',
    ])
    .where('rag_documents.organization_id', '=', organizationId)
    .orderBy('rag_documents.indexed_at', 'desc')
    .orderBy('rag_documents.id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  return { documents, total: await countOf(db, organizationId) }
}

/** A page, by id, of the documents of a domain that were added with the API. */
export const listContents = (db: Db, domainId: string, after: string, limit: number) =>
  db
    .selectFrom('rag_documents')
    .selectAll()
    .where('domain_id', '=', domainId)
    .where('source', '=', 'api')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

export async function statsOf(db: Db, organizationId: string) {
  const { rows } = await sql<{
    collections: number
    documents: number
    vectors: number
    last_indexed_at: string | null
  }>`
    select
      (select count(*) from rag_collections where organization_id = ${organizationId}) as collections,
      count(*) as documents, coalesce(sum(chunk_count), 0)::bigint as vectors,
      max(indexed_at) as last_indexed_at
    from rag_documents where organization_id = ${organizationId}`.execute(db)
  return rows[0] as (typeof rows)[number]
}

/** The totals of one organization, or of all if it is null. */
export async function totals(db: Db, organizationId: string | null) {
  const { rows } = await sql<{ collections: number; total_documents: number }>`
    select
      (select count(*) from rag_collections
        where ${organizationId}::text is null or organization_id = ${organizationId}) as collections,
      (select count(*) from rag_documents
        where ${organizationId}::text is null or organization_id = ${organizationId})
        as total_documents`.execute(db)
  return rows[0] as (typeof rows)[number]
}
