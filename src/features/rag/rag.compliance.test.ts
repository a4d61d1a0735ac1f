import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { eraseFromIndex, expireFromIndex } from './rag.compliance.ts'

const PATH = '/api/v1/rag'
let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  for (const tenant of [acme, await app.tenant('globex')]) {
    const { body } = await tenant.post(`${PATH}/collections/${tenant.domain}`, { name: 'All' })
    await tenant.post(`${PATH}/documents/${body.data.collection_id}`, {
      documents: [
        {
          id: 'from',
          content: 'x',
          metadata: { from: 'Jane <Jane@acme.test>', date: '2020-01-01' },
        },
        { id: 'to', content: 'x', metadata: { to: ['bob@x.test', 'jane@acme.test'] } },
        {
          id: 'other',
          content: 'x',
          metadata: { from: 'mary-jane@acme.test', date: '2020-01-01' },
        },
      ],
    })
  }
})
afterAll(() => app.stop())

const left = async (organizationId: string) =>
  (
    await app.core.db
      .selectFrom('rag_documents')
      .select('external_id')
      .where('organization_id', '=', organizationId)
      .orderBy('external_id')
      .execute()
  ).map(({ external_id }) => external_id)

it('erases one person from the index of their organization only', async () => {
  const { db } = app.core
  const person = { organization_id: acme.organizationId, email: 'jane@acme.test' }
  expect(await eraseFromIndex(db, person)).toBe(2)
  expect(await left(acme.organizationId)).toEqual(['other'])
  expect(await db.selectFrom('rag_chunks').select('id').execute()).toHaveLength(4)
  expect(await db.selectFrom('rag_signatures').select('chunk_id').execute()).toHaveLength(4)
})

it('removes expired documents with their chunks and vectors', async () => {
  const { db } = app.core
  const old = { organization_id: acme.organizationId, before: new Date('2021-01-01'), held: [] }
  expect(await expireFromIndex(db, old)).toBe(1)
  expect(await expireFromIndex(db, old)).toBe(0)
  expect(await left(acme.organizationId)).toEqual([])
  expect(await db.selectFrom('rag_chunks').select('id').execute()).toHaveLength(3)
})
