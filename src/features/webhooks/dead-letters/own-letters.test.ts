import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { deadLetters } from '../../../../test/support/dead-letters.ts'

const PATH = '/api/v1/webhooks/dead-letters'
const ENDPOINTS = '/api/v1/webhooks/endpoints'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let endpointId: string
beforeAll(async () => {
  app = await startApp({ env: { WEBHOOK_FANOUT: 'true' } })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  const url = 'https://hooks.acme.test/'
  endpointId = (await acme.post(ENDPOINTS, { url, event_types: ['none.such'] })).body.data.id
})
afterAll(() => app.stop())

const { bury, queued, letterOf } = deadLetters(() => app)
const own = (more: object = {}) =>
  bury({
    organization_id: acme.organizationId,
    endpoint_id: endpointId,
    endpoint_url: 'https://hooks.acme.test/',
    ...more,
  })
const replay = (id: number, who: Pick<typeof acme, 'post'> = acme) =>
  who.post(`${PATH}/${id}/replay-mine`)

it('lets a tenant replay a dead letter of its endpoint without a reason', async () => {
  const letter = await own()
  expect((await acme.get(`${PATH}/${letter.id}/mine`)).body.data.replayable).toBe(true)
  expect(await replay(letter.id)).toMatchObject({
    status: 200,
    body: { data: { id: letter.id, status: 'retrying', endpoint_url: 'https://hooks.acme.test/' } },
  })
  expect(await queued(letter.eventId)).toHaveLength(1)
  expect(await letterOf(letter.id)).toMatchObject({ status: 'retrying', attempt_count: 9 })
})

it('does not enqueue an event of a tenant twice while it waits, also for requests at once', async () => {
  const letter = await own()
  const answers = await Promise.all([replay(letter.id), replay(letter.id)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await replay(letter.id)).body.msg).toBe(
    'Cannot replay dead letter: it is being delivered again already',
  )
  expect(await queued(letter.eventId)).toHaveLength(1)
  await app.core.db.deleteFrom('webhook_queue').where('event_id', '=', letter.eventId).execute()
  expect((await replay(letter.id)).status).toBe(200)
})

it('gives platform callers no way to replay without a reason (B7.3)', async () => {
  const letter = await own()
  for (const who of [await app.operator('owner'), await app.key(null, { scope: 'platform' })]) {
    expect((await replay(letter.id, who)).status).toBe(404)
  }
  expect(await queued(letter.eventId)).toEqual([])
  expect(await letterOf(letter.id)).toMatchObject({ status: 'pending', attempt_count: 8 })
})

it("returns 404 for the replay of another organization's dead letter", async () => {
  const letter = await own()
  expect(await replay(letter.id, globex)).toMatchObject({
    status: 404,
    body: { msg: 'Dead letter not found' },
  })
  expect(await letterOf(letter.id)).toMatchObject({ status: 'pending' })
})

it('refuses a replay by a read-only key, to a paused endpoint and to the global URL', async () => {
  const letter = await own()
  const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
  expect((await replay(letter.id, reader)).status).toBe(403)
  const global = await own({ endpoint_id: null })
  expect((await replay(global.id)).body.msg).toContain('the webhook URL of the platform')
  await acme.put(`${ENDPOINTS}/${endpointId}`, { active: false })
  expect(await replay(letter.id)).toMatchObject({
    status: 409,
    body: { msg: 'Cannot replay dead letter: its webhook endpoint is gone or inactive' },
  })
  await acme.put(`${ENDPOINTS}/${endpointId}`, { active: true })
  expect(await queued(letter.eventId, global.eventId)).toEqual([])
})
