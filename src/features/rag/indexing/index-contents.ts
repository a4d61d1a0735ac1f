import { sql } from 'kysely'
import { LeaseLost } from '../../../jobs/lease.ts'
import { listContents } from '../documents/documents.repository.ts'
import { draftOf } from '../documents/documents.service.ts'
import { prepare } from '../documents/prepare.ts'
import { type NewDocument, store } from '../documents/store.repository.ts'
import * as jobs from './jobs.repository.ts'
import type { Run } from './run.ts'

const AT_ONCE = 50

/** Indexes the documents that were added with the API again, with the current configuration. */
export async function indexContents(run: Run): Promise<void> {
  const { db } = run.core
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
      // Skips documents that were removed or replaced in the meantime.
      const { rows: deleted } = await sql<{ id: string }>`
        delete from rag_documents where id = any(${ids}::text[]) returning id`.execute(tx)
      const current = new Set(deleted.map(({ id }) => id))
      const replaced = rows.filter(({ id }) => current.has(id))
      await store(tx, run.embedder.model, replaced)
      const chunks = replaced.reduce((sum, row) => sum + row.chunks.length, 0)
      const progress = { documents: replaced.length, chunks, removed: 0 }
      if (!(await jobs.advance(tx, run.job.id, run.lease, progress))) throw new LeaseLost()
    })
  }
}
