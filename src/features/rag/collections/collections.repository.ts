import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'

const listed = (db: Db) =>
  db
    .selectFrom('rag_collections')
    .innerJoin('domains', 'domains.id', 'rag_collections.domain_id')
    .select([
      'rag_collections.id as collection_id',
      'domains.domain',
      'rag_collections.name',
      'rag_collections.description',
      'rag_collections.embedding_model',
      'rag_collections.created_at',
      sql<number>`(select count(*) from rag_documents
        where rag_documents.collection_id = rag_collections.id)`.as('document_count'),
    ])
    .orderBy('rag_collections.created_at')
    .orderBy('rag_collections.id')

export const ofDomain = (db: Db, domainId: string) =>
  listed(db).where('rag_collections.domain_id', '=', domainId).execute()

export const ofOrganization = (db: Db, organizationId: string) =>
  listed(db).where('rag_collections.organization_id', '=', organizationId).execute()

export const find = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('rag_collections')
    .innerJoin('domains', 'domains.id', 'rag_collections.domain_id')
    .select([
      'rag_collections.id',
      'rag_collections.organization_id',
      'rag_collections.domain_id',
      'domains.domain',
    ])
    .where('rag_collections.id', '=', id)
    .where(inScope('rag_collections', scope))
    .executeTakeFirst()

interface NewRow {
  id: string
  organization_id: string
  domain_id: string
  name: string
  description: string | null
  embedding_model: string
}

/** Undefined if a collection of that name exists. */
export const insert = (tx: Tx, row: NewRow) =>
  tx
    .insertInto('rag_collections')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('created_at')
    .executeTakeFirst()

export async function statsOf(db: Db, domainId: string) {
  const { rows } = await sql<{
    collections: number
    total_documents: number
    total_vectors: number
    storage_bytes: number
  }>`
    select
      (select count(*) from rag_collections where domain_id = ${domainId}) as collections,
      count(distinct documents.id) as total_documents, count(chunks.id) as total_vectors,
      coalesce(sum(octet_length(chunks.text) + octet_length(chunks.vector)), 0)::bigint
        as storage_bytes
    from rag_documents documents left join rag_chunks chunks on chunks.document_id = documents.id
    where documents.domain_id = ${domainId}`.execute(db)
  return rows[0] as (typeof rows)[number]
}
