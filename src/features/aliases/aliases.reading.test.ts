import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aliases } from '../../../test/support/aliases.ts'
import { type App, startApp } from '../../../test/support/app.ts'
import { DAY_MS } from '../../lib/time.ts'
import { ulid } from '../../lib/ulid.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const { add, created, get } = aliases(
  () => app,
  () => acme,
)

describe('reading aliases', () => {
  it.each([['01K9ZQ5T3M8B7C6D5E00000042'], ['nobody@acme.test'], ['x'], ["' or 1=1 --"], ['%']])(
    'returns 404 for the unknown name %s',
    async (name) => {
      expect(await get(name)).toMatchObject({ status: 404, body: { msg: 'Alias not found' } })
    },
  )

  it("answers 404 for another organization's alias, by id and by source", async () => {
    const { id, source } = await created()
    for (const name of [id, source]) expect((await get(name, globex)).status).toBe(404)
    const narrowed = `/api/v1/aliases/get/${id}?organization_id=${acme.organizationId}`
    expect((await globex.get(narrowed)).status).toBe(404)
  })

  it("lists the organization's active aliases by source, in pages", async () => {
    const hooli = await app.tenant('hooli')
    for (const name of ['c', 'a', 'b', 'off']) {
      const active = name === 'off' ? 0 : 1
      await add({ source: `${name}@hooli.test`, destination: 'x@x.example', active }, hooli)
    }
    const sources = async (query: string, client: Pick<typeof acme, 'get'> = hooli) =>
      (await client.get(`/api/v1/aliases/get/all${query}`)).body.data.map(
        ({ source }: { source: string }) => source,
      )
    expect(await sources('')).toEqual(['a@hooli.test', 'b@hooli.test', 'c@hooli.test'])
    expect(await sources('?per_page=2&page=2')).toEqual(['c@hooli.test'])
    expect(await sources(`?organization_id=${acme.organizationId}`)).toHaveLength(3)
    const support = await app.operator('support')
    expect(await sources(`?organization_id=${hooli.organizationId}`, support)).toHaveLength(3)
    expect((await sources('?per_page=200', support)).length).toBeGreaterThan(3)
    expect((await hooli.get('/api/v1/aliases/get/all?page=0')).status).toBe(422)
  })

  it('counts each message of the last 30 days once', async () => {
    const { source } = await created()
    const row = (ago: number, message_id: string, more: object = {}) => ({
      id: ulid(),
      timestamp: new Date(Date.now() - ago * DAY_MS).toISOString(),
      recipient: source,
      organization_id: acme.organizationId,
      status: 'sent' as const,
      message_id,
      ...more,
    })
    await app.core.db
      .insertInto('mail_log')
      .values([
        row(1, 'one', { status: 'deferred' }),
        row(1, 'one'),
        row(2, 'two'),
        row(31, 'old'),
        row(1, 'theirs', { organization_id: globex.organizationId }),
      ])
      .execute()
    expect((await get(source)).body.data[0].monthly_forwards).toBe(2)
    const { monthly_volume } = (await acme.get('/api/v1/aliases/get/stats/acme.test')).body.data
    expect(
      monthly_volume.map(({ forwards_count }: { forwards_count: number }) => forwards_count),
    ).toEqual([1, 1])
    expect(monthly_volume[0].date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })

  it('returns the alias statistics of a domain', async () => {
    const empty = await app.tenant('empty')
    expect(await empty.get('/api/v1/aliases/get/stats/Empty.test')).toMatchObject({
      status: 200,
      body: {
        msg: 'Alias statistics for empty.test retrieved successfully',
        data: {
          basic_stats: { total_aliases: 0, active_aliases: 0, inactive_aliases: 0 },
          top_destinations: [],
          monthly_volume: [],
        },
      },
    })
    for (const [name, destination, active] of [
      ['a', 'x@x.example', 1],
      ['b', 'x@x.example', 1],
      ['c', 'y@x.example', 1],
      ['d', 'y@x.example', 0],
    ]) {
      await add({ source: `${name}@empty.test`, destination, active }, empty)
    }
    expect((await empty.get('/api/v1/aliases/get/stats/empty.test')).body.data).toMatchObject({
      basic_stats: { total_aliases: 4, active_aliases: 3, inactive_aliases: 1 },
      top_destinations: [
        { destination: 'x@x.example', usage_count: 2 },
        { destination: 'y@x.example', usage_count: 1 },
      ],
    })
    for (const name of ['empty.test', 'nowhere.test', 'no domain']) {
      const path = `/api/v1/aliases/get/stats/${encodeURIComponent(name)}`
      expect(await acme.get(path)).toMatchObject({
        status: 404,
        body: { msg: `Domain ${name} not found` },
      })
    }
  })
})
