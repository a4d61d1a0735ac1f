import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'

const PATH = '/api/v1/rag'
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
  handbook = await collectionOf(acme, 'Handbook')
  await add(acme, handbook, [
    {
      id: 'lighthouse',
      content: 'The harbour authority has postponed the inspection of the northern lighthouse.',
      metadata: { subject: 'Lighthouse', from: 'Anna <anna@port.test>', date: '2026-03-01' },
    },
    {
      id: 'canteen',
      content: 'From Monday on the canteen serves lentil soup & "bread" with 1 < 2 onions.',
      metadata: { subject: 'Canteen', from: 'ben@acme.test', date: '2026-05-01T12:00:00Z' },
    },
    {
      id: 'rechnung',
      content: 'Die Rechnungen für die Heizung sind nicht bezahlt, bitte überweisen Sie das Geld.',
    },
  ])
  const theirs = await collectionOf(globex, 'Handbook')
  await add(globex, theirs, [
    { id: 'secret', content: 'The lighthouse of globex is haunted by a harbour pilot.' },
  ])
})
afterAll(() => app.stop())

type Somebody = Pick<Awaited<ReturnType<App['tenant']>>, 'post' | 'get' | 'domain'>

async function collectionOf(of: Somebody, name: string): Promise<string> {
  const made = await of.post(`${PATH}/collections/${of.domain}`, { name })
  expect(made.status).toBe(201)
  return made.body.data.collection_id
}
async function add(of: Somebody, collection: string, documents: object[]) {
  const added = await of.post(`${PATH}/documents/${collection}`, { documents })
  expect(added.status).toBe(200)
  return added.body.data
}
const search = async (of: Pick<Somebody, 'post'>, query: string, more: object = {}) => {
  const { status, body } = await of.post(`${PATH}/search`, { query, ...more })
  expect(status).toBe(200)
  return body.data
}
const names = async (of: Pick<Somebody, 'post'>, query: string, more: object = {}) =>
  (await search(of, query, more)).results.map((one: { document_id: string }) => one.document_id)

describe('a search', () => {
  it.each([
    ['no query', {}],
    ['an empty query', { query: '  ' }],
    ['a limit of nothing', { query: 'x', limit: 0 }],
    ['a limit above 100', { query: 'x', limit: 101 }],
    ['a score above 1', { query: 'x', min_score: 1.1 }],
    ['a date that is none', { query: 'x', date_from: '2026-02-30' }],
  ])('with %s is refused', async (_, body) => {
    expect((await acme.post(`${PATH}/search`, body)).status).toBe(422)
  })

  it('finds by other forms of the words, in the language of the text', async () => {
    expect((await names(acme, 'inspections postponing'))[0]).toBe('lighthouse')
    expect((await names(acme, 'Rechnung Heizungen'))[0]).toBe('rechnung')
  })

  it('finds what is misspelled on either side, and says by what', async () => {
    const { results, mode } = await search(acme, 'lighthuose inspektion')
    expect(results[0].document_id).toBe('lighthouse')
    expect(mode).toBe('lexical')
  })

  it('tells who, when and how good, and marks what it found in text that is safe as HTML', async () => {
    const { results, total, query } = await search(acme, 'lentil soup')
    expect(query).toBe('lentil soup')
    expect(total).toBeGreaterThanOrEqual(1)
    expect(results[0]).toMatchObject({
      document_id: 'canteen',
      collection_id: handbook,
      source: 'api',
      subject: 'Canteen',
      from: 'ben@acme.test',
      date: '2026-05-01T12:00:00.000Z',
    })
    expect(results[0].score).toBeGreaterThan(0.8)
    expect(results[0].score).toBeLessThanOrEqual(1)
    expect(results[0].snippet).toContain(
      '<mark>lentil</mark> <mark>soup</mark> &amp; &quot;bread&quot; with 1 &lt; 2 onions',
    )
  })

  it('keeps to what was asked for', async () => {
    const query = 'lighthouse canteen'
    expect((await names(acme, query)).sort()).toEqual(['canteen', 'lighthouse'])
    expect(await names(acme, query, { sender: 'ANNA@' })).toEqual(['lighthouse'])
    expect(await names(acme, query, { date_from: '2026-04-01' })).toEqual(['canteen'])
    expect(await names(acme, query, { date_to: '2026-03-01' })).toEqual(['lighthouse'])
    expect(await names(acme, query, { has_attachment: true })).toEqual([])
    expect(await names(acme, query, { folder: 'INBOX' })).toEqual([])
    expect(await names(acme, query, { domain: 'acme.test', collection_id: handbook })).toHaveLength(
      2,
    )
    expect(await names(acme, query, { limit: 1 })).toHaveLength(1)
    const { results, total } = await search(acme, 'lentil soup', { min_score: 0.9 })
    expect([results.length, total]).toEqual([1, 1])
  })

  it.each(["'", '\\', '"', ':*', "a'b & | !", '(((', '💥', '%', '"harbour authority" -pilot'])(
    'takes %s for text',
    async (query) => {
      await search(acme, query)
    },
  )

  it('never sees what is another tenant’s, whatever organization it names', async () => {
    const { results, total } = await search(acme, 'haunted harbour pilot lighthouse globex', {
      organization_id: globex.organizationId,
    })
    expect(results.map((one: { document_id: string }) => one.document_id)).not.toContain('secret')
    expect(total).toBe(results.length)
    const { score } = results[0]
    // Nor does it matter for what is found and how it is ranked.
    await add(globex, await collectionOf(globex, 'More'), [
      { content: 'harbour pilot lighthouse inspection' },
      { content: 'harbour harbour harbour lighthouse' },
    ])
    const again = await search(acme, 'haunted harbour pilot lighthouse globex')
    expect(again.results[0].score).toBe(score)
    expect(again.total).toBe(total)
  })

  it.each([
    ['domain', () => ({ domain: 'globex.test' }), () => ({ domain: 'nowhere.test' })],
    [
      'collection',
      () => ({ collection_id: `rag_${globex.organizationId}_globex.test_handbook` }),
      () => ({ collection_id: 'none' }),
    ],
  ])('in a foreign %s answers as in one that is not there', async (_, foreign, absent) => {
    const [one, other] = await Promise.all([
      acme.post(`${PATH}/search`, { query: 'x', ...foreign() }),
      acme.post(`${PATH}/search`, { query: 'x', ...absent() }),
    ])
    expect([one.status, other.status]).toEqual([404, 404])
    expect(one.body.msg).toBe(other.body.msg)
  })

  it('of the platform is over all, or over the one that it names', async () => {
    const all = await search(platform, 'lighthouse')
    expect(all.mode).toBe('full_text')
    expect(all.results.map((one: { document_id: string }) => one.document_id)).toEqual(
      expect.arrayContaining(['lighthouse', 'secret']),
    )
    const one = await names(platform, 'lighthouse', { organization_id: acme.organizationId })
    expect(one).toContain('lighthouse')
    expect(one).not.toContain('secret')
    const missing = await platform.post(`${PATH}/search`, { query: 'x', organization_id: 'none' })
    expect(missing.status).toBe(404)
  })

  it('is told as an event, its text as a hash while privacy mode is on', async () => {
    const query = 'something nobody else asks for'
    await search(acme, query)
    const { data, org_id } = await app.core.db
      .selectFrom('events')
      .select(['data', 'org_id'])
      .where('event', '=', 'rag.search.complete')
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    expect(org_id).toBe(acme.organizationId)
    expect(data).toMatchObject({
      query: createHash('sha256').update(query).digest('hex'),
      user: acme.keyId.split('_').at(-1),
    })
  })
})

describe('documents', () => {
  it('replace those with the same id, and the last of a request counts', async () => {
    const collection = await collectionOf(acme, 'Versions')
    await add(acme, collection, [{ id: 'one', content: 'aardvark of the first version' }])
    const added = await add(acme, collection, [
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
    expect(await names(acme, 'aardvark', filter)).toEqual([])
    expect(await names(acme, 'buffalo', filter)).toEqual([])
    expect((await search(acme, 'chinchilla', filter)).results[0].email_id).toBe(added.point_ids[0])
  })

  it('are refused where there is nothing to index, or no such collection', async () => {
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

  it('are not more than the organization may have', async () => {
    const initech = await app.tenant('initech')
    const path = `${PATH}/organizations/${initech.organizationId}/rag/config`
    await initech.put(path, { enabled_fields: FIELDS, max_documents: 1 })
    const collection = await collectionOf(initech, 'Few')
    const documents = [{ content: 'one' }, { content: 'two' }]
    const refused = await initech.post(`${PATH}/documents/${collection}`, { documents })
    expect(refused.status).toBe(409)
    expect(refused.body.msg).toContain('max_documents')
    await add(initech, collection, documents.slice(0, 1))
    await initech.put(path, { enabled_fields: FIELDS, enabled: false })
    expect((await initech.post(`${PATH}/search`, { query: 'one' })).status).toBe(409)
  })
})

describe('collections', () => {
  it('have a name once, and ids that say whose they are', async () => {
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

  it('take no model that is not there, and no name that is none', async () => {
    const model = { name: 'x', embedding_model: 'gpt' }
    expect((await acme.post(`${PATH}/collections/acme.test`, model)).status).toBe(400)
    expect((await acme.post(`${PATH}/collections/acme.test`, { name: '../x' })).status).toBe(422)
    expect((await acme.post(`${PATH}/collections/acme.test`, {})).status).toBe(422)
  })
})

describe('the configuration', () => {
  const path = () => `${PATH}/organizations/${acme.organizationId}/rag/config`
  const valid = { enabled_fields: FIELDS }

  it('has defaults, and says which mode they mean', async () => {
    expect((await globex.get(`${PATH}/rag/config/domain/globex.test`)).body.data).toMatchObject({
      organization_id: globex.organizationId,
      domain: 'globex.test',
      index_mail: false,
      enabled_fields: FIELDS,
      chunk_size: 1000,
      chunk_overlap: 200,
      embedding_provider: 'sentence_transformers',
      privacy_mode: true,
      mode: 'lexical',
      mail_domains: [],
    })
  })

  it.each([
    ['an unknown field', { enabled_fields: ['subject', 'soul'] }, 400, 'soul'],
    ['an overlap of a whole chunk', { ...valid, chunk_size: 500, chunk_overlap: 500 }, 400, '500'],
    ['an overlap above the default size', { ...valid, chunk_overlap: 1000 }, 400, 'chunk_size'],
    ['a schedule that is none', { ...valid, index_schedule: 'hourly' }, 400, 'hourly'],
    ['a model that is not there', { ...valid, embedding_model: 'gpt' }, 400, 'gpt'],
    ['a provider without an endpoint', { ...valid, embedding_provider: 'openai' }, 400, 'endpoint'],
    ['a part only', { chunk_size: 500 }, 422, 'enabled_fields'],
    ['no fields', { enabled_fields: [] }, 422, ''],
    ['a provider that is none', { ...valid, embedding_provider: 'abacus' }, 422, ''],
    ['a foreign domain', { ...valid, mail_domains: ['globex.test'] }, 404, 'Domain'],
  ])('with %s is refused and leaves all as it was', async (_, body, status, says) => {
    const before = (await acme.get(path())).body.data
    const refused = await acme.put(path(), body)
    expect(refused.status).toBe(status)
    expect(refused.text).toContain(says)
    expect((await acme.get(path())).body.data).toMatchObject({
      ...before,
      updated_at: expect.anything(),
    })
  })

  it('is replaced as a whole, but for the mail that may be read', async () => {
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

describe('an index job', () => {
  it('is accepted once for a domain, and waits for a worker', async () => {
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
