import { sql } from 'kysely'
import { type BulkColumns, bulkRows } from '../../../database/bulk.ts'
import type { Db, Tx } from '../../../database/database.ts'
import type { Chunk } from './prepare.ts'

export interface NewDocument {
  id: string
  organization_id: string
  domain_id: string
  collection_id: string
  source: 'mail' | 'api'
  email_account_id: string | null
  folder_id: number | null
  uid: number | null
  external_id: string | null
  message_id: string | null
  subject: string | null
  sender: string | null
  recipients: string | null
  date: string | null
  has_attachment: boolean
  size_bytes: number
  language: string
  content_hash: string
  content: string | null
  metadata: object
  /** Indexed but not shown. */
  people: string
  searched_subject: string
  chunks: Chunk[]
}

const documentColumns = {
  id: 'text',
  organization_id: 'text',
  domain_id: 'text',
  collection_id: 'text',
  source: 'text',
  email_account_id: 'text',
  folder_id: 'bigint',
  uid: 'bigint',
  external_id: 'text',
  message_id: 'text',
  subject: 'text',
  sender: 'text',
  recipients: 'text',
  date: 'timestamptz',
  has_attachment: 'boolean',
  size_bytes: 'integer',
  language: 'text',
  content_hash: 'text',
  content: 'text',
  metadata: 'jsonb',
  chunk_count: 'integer',
} satisfies BulkColumns

const chunkColumns = {
  document_id: 'text',
  organization_id: 'text',
  ordinal: 'integer',
  text: 'text',
  subject: 'text',
  people: 'text',
  language: 'text',
  model: 'text',
  vector: 'bytea',
  bits: 'bit(512)',
} satisfies BulkColumns

/** Stores documents with their chunks and signatures. Replaces documents with the same UID or id. */
export async function store(tx: Tx, model: string, documents: readonly NewDocument[]) {
  if (documents.length === 0) return
  await removeSame(tx, documents)
  const names = sql.raw(Object.keys(documentColumns).join(', '))
  const rows = documents.map(({ chunks, people: _, searched_subject: __, ...row }) => ({
    ...row,
    chunk_count: chunks.length,
  }))
  await sql`
    insert into rag_documents (${names})
    select ${names} from ${bulkRows(documentColumns, rows)} as lines`.execute(tx)
  const chunks = documents.flatMap((document) =>
    document.chunks.map((chunk) => ({
      ...chunk,
      document_id: document.id,
      organization_id: document.organization_id,
      subject: document.searched_subject,
      people: document.people,
      language: document.language,
      model,
    })),
  )
  await sql`
    with lines as materialized (select * from ${bulkRows(chunkColumns, chunks)} as lines),
    made as (
      insert into rag_chunks (document_id, organization_id, ordinal, text, tsv, vector, model)
      select document_id, organization_id, ordinal, text,
        setweight(to_tsvector(language::regconfig, subject), 'A')
          || setweight(to_tsvector(language::regconfig, people), 'B')
          || to_tsvector(language::regconfig, text),
        vector, model
      from lines
      returning id, document_id, ordinal)
    insert into rag_signatures (chunk_id, document_id, organization_id, model, bits)
    select made.id, lines.document_id, organization_id, model, bits
    from made join lines on lines.document_id = made.document_id and lines.ordinal = made.ordinal
  `.execute(tx)
  await rememberLanguages(tx, documents)
}

async function removeSame(tx: Tx, documents: readonly NewDocument[]): Promise<void> {
  const [first] = documents
  if (!first) return
  const uids = documents.map(({ uid }) => uid).filter((uid) => uid !== null)
  const names = documents.map(({ external_id }) => external_id).filter((name) => name !== null)
  if (first.folder_id !== null && uids.length > 0) {
    await sql`
      delete from rag_documents
      where folder_id = ${first.folder_id} and uid = any(${uids}::bigint[])`.execute(tx)
  }
  if (names.length > 0) {
    await sql`
      delete from rag_documents
      where collection_id = ${first.collection_id} and external_id = any(${names}::text[])
    `.execute(tx)
  }
}

const rememberLanguages = (tx: Tx, documents: readonly NewDocument[]) =>
  tx
    .insertInto('rag_languages')
    .values(
      [
        ...new Set(
          documents.map(({ organization_id, language }) => `${organization_id} ${language}`),
        ),
      ]
        .sort()
        .map((pair) => {
          const [organization_id = '', language = ''] = pair.split(' ')
          return { organization_id, language }
        }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()

export const countOf = async (db: Db, organizationId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('rag_documents')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return count
}
