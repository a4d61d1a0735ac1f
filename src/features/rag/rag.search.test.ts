import { createHash } from 'node:crypto'
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

describe('RAG search', () => {
  it.each([
    ['a missing query', {}],
    ['an empty query', { query: '  ' }],
    ['a limit of 0', { query: 'x', limit: 0 }],
    ['a limit above 100', { query: 'x', limit: 101 }],
    ['a score above 1', { query: 'x', min_score: 1.1 }],
    ['an invalid date', { query: 'x', date_from: '2026-02-30' }],
  ])('rejects %s', async (_, body) => {
    expect((await acme.post(`${PATH}/search`, body)).status).toBe(422)
  })

  it('finds other forms of the words in the language of the text', async () => {
    expect((await foundIds(acme, 'inspections postponing'))[0]).toBe('lighthouse')
    expect((await foundIds(acme, 'Rechnung Heizungen'))[0]).toBe('rechnung')
  })

  it('finds misspelled words and says that the search is lexical (B2.10)', async () => {
    const { results, mode } = await search(acme, 'lighthuose inspektion')
    expect(results[0].document_id).toBe('lighthouse')
    expect(mode).toBe('lexical')
  })

  it('returns sender, date, score and an escaped snippet with marked words', async () => {
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

  it('applies the filters, the limit and the minimum score', async () => {
    const query = 'lighthouse canteen'
    expect((await foundIds(acme, query)).sort()).toEqual(['canteen', 'lighthouse'])
    expect(await foundIds(acme, query, { sender: 'ANNA@' })).toEqual(['lighthouse'])
    expect(await foundIds(acme, query, { date_from: '2026-04-01' })).toEqual(['canteen'])
    expect(await foundIds(acme, query, { date_to: '2026-03-01' })).toEqual(['lighthouse'])
    expect(await foundIds(acme, query, { has_attachment: true })).toEqual([])
    expect(await foundIds(acme, query, { folder: 'INBOX' })).toEqual([])
    expect(
      await foundIds(acme, query, { domain: 'acme.test', collection_id: handbook }),
    ).toHaveLength(2)
    expect(await foundIds(acme, query, { limit: 1 })).toHaveLength(1)
    const { results, total } = await search(acme, 'lentil soup', { min_score: 0.9 })
    expect([results.length, total]).toEqual([1, 1])
  })

  it.each(["'", '\\', '"', ':*', "a'b & | !", '(((', '💥', '%', '"harbour authority" -pilot'])(
    'treats %s as text',
    async (query) => {
      await search(acme, query)
    },
  )

  it('never returns documents of another tenant, even if the request names it', async () => {
    const { results, total } = await search(acme, 'haunted harbour pilot lighthouse globex', {
      organization_id: globex.organizationId,
    })
    expect(results.map((one: { document_id: string }) => one.document_id)).not.toContain('secret')
    expect(total).toBe(results.length)
    const { score } = results[0]
    // Documents of another tenant do not influence the ranking either.
    await addDocuments(globex, await createCollection(globex, 'More'), [
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
  ])('returns 404 for a foreign and for an unknown %s', async (_, foreign, absent) => {
    const [one, other] = await Promise.all([
      acme.post(`${PATH}/search`, { query: 'x', ...foreign() }),
      acme.post(`${PATH}/search`, { query: 'x', ...absent() }),
    ])
    expect([one.status, other.status]).toEqual([404, 404])
    expect(one.body.msg).toBe(other.body.msg)
  })

  it('by the platform needs the role admin, an organization and a reason, and is audited (S13)', async () => {
    const ask = { query: 'lighthouse', organization_id: acme.organizationId, reason: 'ticket 7' }
    for (const role of ['support', 'operator'] as const) {
      expect(await (await app.operator(role)).post(`${PATH}/search`, ask)).toMatchObject({
        status: 403,
        body: { msg: 'Insufficient operator role' },
      })
    }
    expect(await platform.post(`${PATH}/search`, ask)).toMatchObject({
      status: 403,
      body: { msg: 'Admin access required' },
    })
    const admin = await app.operator('admin')
    for (const missing of ['organization_id', 'reason']) {
      const { status, body } = await admin.post(`${PATH}/search`, { ...ask, [missing]: undefined })
      expect([status, body.detail?.[0].loc]).toEqual([422, ['body', missing]])
    }
    expect((await admin.post(`${PATH}/search`, { ...ask, reason: ' ' })).status).toBe(422)
    const unknown = await admin.post(`${PATH}/search`, { ...ask, organization_id: 'none' })
    expect(unknown.status).toBe(404)
    const found = await foundIds(admin, 'lighthouse', ask)
    expect(found).toContain('lighthouse')
    expect(found).not.toContain('secret')
    const master = await app.key(null, {
      scope: 'platform',
      permissions: { admin_access: true },
    })
    expect(await foundIds(master, 'lighthouse', ask)).toEqual(found)
    const audited = () =>
      app.core.db
        .selectFrom('operator_audit')
        .select(['organization_id', 'request_body'])
        .where('operator_id', '=', admin.id)
        .where('action', '=', 'rag_search')
        .where('status_code', '=', 200)
        .executeTakeFirst()
    await expect
      .poll(audited)
      .toMatchObject({ organization_id: acme.organizationId, request_body: ask })
  })

  it('emits an event with a hash of the query in privacy mode', async () => {
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
