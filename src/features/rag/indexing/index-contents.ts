import { sql } from 'kysely'
import { listContents } from '../documents/documents.repository.ts'
import { draftOf } from '../documents/documents.service.ts'
import { prepare } from '../documents/prepare.ts'
import { type NewDocument, store } from '../documents/store.repository.ts'
import * as jobs from './jobs.repository.ts'
import { Abandoned, type Run } from './run.ts'

const AT_ONCE = 50

/** Takes what came over the API apart again, as the configuration wants it now. */
export async function indexContents(run: Run): Promise<void> {
  const { config, db } = run.core
  for (let after = ''; ; ) {
    const documents = await listContents(db, run.domain.id, after, AT_ONCE)
    if (documents.length === 0) return
    run.signal.throwIfAborted()
    after = documents.at(-1)?.id ?? ''
    const drafts = documents.map(({ content, metadata }) => draftOf(content ?? '', metadata))
    const prepared = await prepare(run.embedder, run.settings, drafts)
    const rows = documents.map(({ chunk_count: _, indexed_at: __, ...document }, at) => ({
      ...document,
      ...(drafts[at] as (typeof drafts)[number]),
      ...(prepared[at] as (typeof prepared)[number]),
    })) satisfies NewDocument[]
    await db.transaction().execute(async (tx) => {
      const ids = documents.map(({ id }) => id)
      // Those that were removed or replaced meanwhile stay so.
      const { rows: gone } = await sql<{ id: string }>`
        delete from rag_documents where id = any(${ids}::text[]) returning id`.execute(tx)
      const there = new Set(gone.map(({ id }) => id))
      const kept = rows.filter(({ id }) => there.has(id))
      await store(tx, run.embedder.model, kept)
      const chunks = kept.reduce((sum, row) => sum + row.chunks.length, 0)
      const progress = { documents: kept.length, chunks, removed: 0 }
      if (!(await jobs.advance(tx, run.job.id, run.owner, config.RAG_LEASE_SECONDS, progress))) {
        throw new Abandoned('another process has the job')
      }
    })
  }
}
