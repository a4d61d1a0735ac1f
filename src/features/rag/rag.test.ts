import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import {
  addDocuments,
  createCollection,
  createHandbooks,
  foundIds,
  PATH,
  search,
} from '../../../test/support/rag.ts'

const FIELDS = ['subject', 'from', 'to', 'cc', 'body', 'attachments']

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let platform: Awaited<ReturnType<App['key']>>
let handbook: string
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  platform = await app.key(null, { scope: 'platform' })
  handbook = await createHandbooks(acme, globex)
})
afterAll(() => app.stop())

describe('RAG documents', () => {
  it('replace documents with the same id; the last one of a request is stored', async () => {
    const collection = await createCollection(acme, 'Versions')
    await addDocuments(acme, collection, [{ id: 'one', content: 'aardvark of the first version' }])
    const added = await addDocuments(acme, collection, [
      { id: 'one', content: 'buffalo of the second version' },
      { id: 'one', content: 'chinchilla of the third version' },
    ])
    expect(added).toMatchObject({
      documents_indexed: 1,
      chunks_created: 1,
      collection_id: collection,
    })
    expect(added.point_ids).toHaveLength(1)
    const filter = { collection_id: collection, min_score: 0.5 }
    expect(await foundIds(acme, 'aardvark', filter)).toEqual([])
    expect(await foundIds(acme, 'buffalo', filter)).toEqual([])
    expect((await search(acme, 'chinchilla', filter)).results[0].email_id).toBe(added.point_ids[0])
  })

  // Finding B7.8: the second request was answered with 500, and 'a b' replaced the first document.
  it.each(['a\tb', 'a\nb', '\\N', 'NULL', ' a'])(
    'with the id %j are replaced by the same id and by no other',
    async (id) => {
      const collection = await createCollection(acme, `Ids ${Buffer.from(id).toString('hex')}`)
      await addDocuments(acme, collection, [{ id, content: 'The first text about herons.' }])
      await addDocuments(acme, collection, [{ id, content: 'The second text about herons.' }])
      const stored = async () =>
        (await foundIds(acme, 'herons', { collection_id: collection })).sort()
      expect(await stored()).toEqual([id])
      await addDocuments(acme, collection, [{ id: 'a b', content: 'Another text about herons.' }])
      expect(await stored()).toEqual([id, 'a b'].sort())
    },
  )

  it('are rejected without content or in an unknown collection', async () => {
    for (const body of [
      {},
      { documents: [] },
      { documents: [{ content: '' }] },
      { documents: [{}] },
    ]) {
      expect((await acme.post(`${PATH}/documents/${handbook}`, body)).status).toBe(422)
    }
    const documents = [{ content: 'x' }]
    const foreign = await globex.post(`${PATH}/documents/${handbook}`, { documents })
    expect([foreign.status, foreign.body.msg]).toEqual([404, 'Collection not found'])
    const wrong = { documents, domain: 'other.test' }
    expect((await acme.post(`${PATH}/documents/${handbook}`, wrong)).status).toBe(404)
  })

  it('are listed and counted for their organization only', async () => {
    const path = `${PATH}/organizations/${acme.organizationId}`
    const list = await acme.get(`${path}/rag/documents?page=1&per_page=2`)
    const { documents, vectors, collections } = (await acme.get(`${path}/rag/stats`)).body.data
    expect(list.body.data).toMatchObject({ total: documents, page: 1, per_page: 2 })
    expect(list.body.data.documents).toHaveLength(2)
    expect(vectors).toBeGreaterThanOrEqual(documents)
    expect((await acme.get(`${path}/collections`)).body.data.total).toBe(collections)
    expect((await acme.get(`${PATH}/health`)).body.data).toMatchObject({
      status: 'healthy',
      embedding_provider: 'lexical',
      collections,
      total_documents: documents,
    })
    const everything = (await platform.get(`${PATH}/health`)).body.data.total_documents
    expect(everything).toBeGreaterThan(documents)
    const stats = (await acme.get(`${PATH}/collections/acme.test/stats`)).body.data
    expect(stats).toMatchObject({ domain: 'acme.test', collections, total_documents: documents })
    expect(stats.storage_bytes).toBeGreaterThan(stats.total_vectors * 512)
  })

  it('are rejected above max_documents', async () => {
    const initech = await app.tenant('initech')
    const path = `${PATH}/organizations/${initech.organizationId}/rag/config`
    await initech.put(path, { enabled_fields: FIELDS, max_documents: 1 })
    const collection = await createCollection(initech, 'Few')
    const documents = [{ content: 'one' }, { content: 'two' }]
    const refused = await initech.post(`${PATH}/documents/${collection}`, { documents })
    expect(refused.status).toBe(409)
    expect(refused.body.msg).toContain('max_documents')
    await addDocuments(initech, collection, documents.slice(0, 1))
    await initech.put(path, { enabled_fields: FIELDS, enabled: false })
    expect((await initech.post(`${PATH}/search`, { query: 'one' })).status).toBe(409)
  })
})

describe('RAG collections', () => {
  it('have a unique name and an id with organization and domain', async () => {
    expect(handbook).toBe(`rag_${acme.organizationId}_acme.test_handbook`)
    const again = await acme.post(`${PATH}/collections/acme.test`, { name: 'handbook' })
    expect(again.status).toBe(409)
    const { body } = await acme.get(`${PATH}/collections/acme.test`)
    expect(body.data.collections[0]).toMatchObject({
      collection_id: handbook,
      name: 'Handbook',
      embedding_model: 'lexical-512-v1',
      document_count: 3,
    })
  })

  it('are rejected with an unknown model or an invalid name', async () => {
    const model = { name: 'x', embedding_model: 'gpt' }
    expect((await acme.post(`${PATH}/collections/acme.test`, model)).status).toBe(400)
    expect((await acme.post(`${PATH}/collections/acme.test`, { name: '../x' })).status).toBe(422)
    expect((await acme.post(`${PATH}/collections/acme.test`, {})).status).toBe(422)
  })
})

describe('RAG configuration', () => {
  const path = () => `${PATH}/organizations/${acme.organizationId}/rag/config`
  const valid = { enabled_fields: FIELDS }

  it('returns the defaults and their mode', async () => {
    expect((await globex.get(`${PATH}/rag/config/domain/globex.test`)).body.data).toMatchObject({
      organization_id: globex.organizationId,
      domain: 'globex.test',
      index_mail: false,
      enabled_fields: FIELDS,
      chunk_size: 1000,
      chunk_overlap: 200,
      embedding_provider: 'lexical',
      privacy_mode: true,
      mode: 'lexical',
      mail_domains: [],
    })
  })

  it.each([
    ['an unknown field', { enabled_fields: ['subject', 'soul'] }, 400, 'soul'],
    ['an overlap of a whole chunk', { ...valid, chunk_size: 500, chunk_overlap: 500 }, 400, '500'],
    ['an overlap above the default size', { ...valid, chunk_overlap: 1000 }, 400, 'chunk_size'],
    [
      'a provider that the installation does not have',
      { ...valid, embedding_provider: 'sentence_transformers' },
      400,
      'lexical',
    ],
    ['an invalid schedule', { ...valid, index_schedule: 'hourly' }, 400, 'hourly'],
    ['an unknown model', { ...valid, embedding_model: 'gpt' }, 400, 'gpt'],
    ['a provider without an endpoint', { ...valid, embedding_provider: 'openai' }, 400, 'endpoint'],
    ['a missing required field', { chunk_size: 500 }, 422, 'enabled_fields'],
    ['no fields', { enabled_fields: [] }, 422, ''],
    ['an unknown provider', { ...valid, embedding_provider: 'abacus' }, 422, ''],
    ['a foreign domain', { ...valid, mail_domains: ['globex.test'] }, 404, 'Domain'],
  ])('with %s is rejected and changes nothing', async (_, body, status, says) => {
    const before = (await acme.get(path())).body.data
    const refused = await acme.put(path(), body)
    expect(refused.status).toBe(status)
    expect(refused.text).toContain(says)
    expect((await acme.get(path())).body.data).toMatchObject({
      ...before,
      updated_at: expect.anything(),
    })
  })

  it('is replaced as a whole except for the allowed mail domains', async () => {
    const body = { ...valid, chunk_size: 500, auto_index: true, mail_domains: ['ACME.test'] }
    const replaced = await acme.put(path(), body)
    expect(replaced.status).toBe(200)
    expect(replaced.body.data).toMatchObject({ chunk_size: 500, mail_domains: ['acme.test'] })
    expect(new Date(replaced.body.data.next_scheduled_at).getTime()).toBeGreaterThan(Date.now())
    const again = (await acme.put(path(), { enabled_fields: ['body'] })).body.data
    expect(again).toMatchObject({
      chunk_size: 1000,
      mail_domains: ['acme.test'],
      auto_index: false,
    })
    expect(again.next_scheduled_at).toBeNull()
    const off = await acme.post(`${PATH}/rag/config/domain/acme.test`, {
      ...valid,
      index_mail: false,
    })
    expect(off.body.data).toMatchObject({
      index_mail: false,
      mail_domains: [],
      enabled_fields: FIELDS,
    })
  })
})

describe('RAG index job', () => {
  it('is accepted once for each domain and stays pending until a worker runs it', async () => {
    const trigger = (body: object) => acme.post(`${PATH}/rag/index/trigger`, body)
    const status = async () => (await acme.get(`${PATH}/rag/index/status/acme.test`)).body.data
    expect((await trigger({})).status).toBe(422)
    expect((await trigger({ domain: 'globex.test' })).status).toBe(404)
    expect(await status()).toMatchObject({ status: 'never_indexed', indexed_emails: 0 })
    const first = await trigger({ domain: 'acme.test' })
    expect(first.status).toBe(202)
    expect(first.body.data).toMatchObject({ status: 'accepted', domain: 'acme.test' })
    expect(first.body.data.message).toContain('index_mail')
    const second = await trigger({ domain: 'acme.test', full_reindex: true })
    expect(second.body.data.job_id).toBe(first.body.data.job_id)
    expect((await status()).status).toBe('pending')
    const all = await acme.post(`${PATH}/organizations/${acme.organizationId}/rag/reindex`)
    expect(all.status).toBe(202)
    expect(all.body.data.job_ids).toEqual([first.body.data.job_id])
    const foreign = await acme.post(`${PATH}/organizations/${globex.organizationId}/rag/reindex`)
    expect(foreign.status).toBe(404)
  })
})
