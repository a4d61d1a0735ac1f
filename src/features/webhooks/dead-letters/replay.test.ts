import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../../../test/support/app.ts'
import {
  deadLetters,
  eventContent,
  type Letter,
  PATH,
  startBothApps,
} from '../../../../test/support/dead-letters.ts'

const WITHOUT = '/api/v1/webhooks/dead-letters'
const reason = 'The receiver is up again'

let quiet: App
let app: App
let operator: Awaited<ReturnType<App['operator']>>
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ quiet, app, stop } = await startBothApps())
  operator = await app.operator('operator')
})
afterAll(() => stop())

const { bury, queued, letterOf } = deadLetters(() => app)
const replay = ({ id }: Letter) => operator.post(`${PATH}/${id}/replay`, { reason })

describe('replaying a dead letter', () => {
  it.each([{}, { reason: 'too short' }, { reason: 7 }])('requires a reason: %j', async (body) => {
    const letter = await bury()
    const answer = await operator.post(`${PATH}/${letter.id}/replay`, body)
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'reason'] }] } })
    expect(await queued(letter.eventId)).toEqual([])
  })

  it.each(['999999999', 'nothing'])('returns 404 for the id %s', async (id) => {
    expect(await operator.post(`${PATH}/${id}/replay`, { reason })).toMatchObject({
      status: 404,
      body: { msg: 'Dead letter not found' },
    })
  })

  it('requires the role operator', async () => {
    const letter = await bury()
    const support = await app.operator('support')
    const tenant = await app.tenant('tenant')
    const platformKey = await app.key(null, { scope: 'platform' })
    for (const who of [support, tenant, platformKey]) {
      for (const path of [`${letter.id}/replay`, 'replay', 'replay-bulk']) {
        expect([401, 403]).toContain((await who.post(`${PATH}/${path}`, { reason })).status)
      }
    }
    expect(await letterOf(letter.id)).toMatchObject({ status: 'pending', attempt_count: 8 })
  })

  it.each(['resolved', 'abandoned'])('rejects a letter that is %s', async (status) => {
    const letter = await bury({ status })
    expect(await replay(letter)).toMatchObject({
      status: 409,
      body: { msg: `Cannot replay dead letter: it is already ${status}` },
    })
    expect(await queued(letter.eventId)).toEqual([])
    expect(await letterOf(letter.id)).toMatchObject({ status, attempt_count: 8 })
  })

  it('rejects a letter without a stored event and with a truncated payload', async () => {
    const letter = await bury({ payload: { _truncated: true } }, false)
    expect(await replay(letter)).toMatchObject({
      status: 409,
      body: { msg: expect.stringMatching(/^Cannot replay dead letter: the event is no longer/) },
    })
  })

  it('rejects the replay when no global URL is configured', async () => {
    const letter = await bury()
    const there = await quiet.operator('operator')
    expect(await there.post(`${WITHOUT}/${letter.id}/replay`, { reason })).toMatchObject({
      status: 409,
      body: { msg: 'Cannot replay dead letter: no global webhook URL is configured' },
    })
    const bulk = await there.post(`${WITHOUT}/replay-bulk`, {
      dead_letter_ids: [String(letter.id)],
      reason,
    })
    expect(bulk).toMatchObject({
      status: 200,
      body: { data: { failed: [{ error: 'no global webhook URL is configured' }] } },
    })
    expect(await queued(letter.eventId)).toEqual([])
  })

  it('rejects a letter of an endpoint when fan-out is off', async () => {
    const letter = await bury({ endpoint_id: 'an endpoint' })
    expect(await replay(letter)).toMatchObject({
      status: 409,
      body: {
        msg: 'Cannot replay dead letter: events are not delivered to endpoints here (WEBHOOK_FANOUT)',
      },
    })
    expect(await queued(letter.eventId)).toEqual([])
  })

  it('enqueues the original event in its lane and audits the reason', async () => {
    const letter = await bury()
    expect(await replay(letter)).toMatchObject({
      status: 200,
      body: {
        msg: 'Dead letter re-queued for delivery',
        data: {
          id: letter.id,
          event_type: 'domain.added',
          endpoint_url: 'https://hooks.host.test/',
          status: 'retrying',
          note: expect.any(String),
        },
      },
    })
    const [row, ...others] = await queued(letter.eventId)
    expect(others).toEqual([])
    expect(row).toMatchObject({ attempts: 0, lane: expect.any(Number) })
    expect(await letterOf(letter.id)).toMatchObject({
      status: 'retrying',
      attempt_count: 9,
      last_attempted_at: expect.any(String),
      resolved_at: null,
    })
    const another = await bury()
    await replay(another)
    expect((await queued(another.eventId))[0]?.lane).toBe(row?.lane)
    const trail = await app.core.db
      .selectFrom('operator_audit')
      .selectAll()
      .where('target_id', '=', String(letter.id))
      .where('result', '=', 'success')
      .execute()
    expect(trail).toMatchObject([
      { action: 'replay_webhook_dead_letter', request_body: { reason } },
    ])
  })

  it('can be ended without a delivery: resolve (B5.2)', async () => {
    const letter = await bury()
    const path = `${PATH}/${letter.id}/resolve`
    expect((await operator.post(path, {})).status).toBe(422)
    const support = await app.operator('support')
    expect((await support.post(path, { reason })).status).toBe(403)
    expect(await operator.post(path, { reason })).toMatchObject({
      status: 200,
      body: { msg: 'Dead letter resolved', data: { id: letter.id, status: 'resolved' } },
    })
    expect(await letterOf(letter.id)).toMatchObject({
      status: 'resolved',
      resolved_at: expect.any(String),
    })
    for (const again of [await operator.post(path, { reason }), await replay(letter)]) {
      expect(again.status).toBe(409)
    }
    expect((await operator.post(`${PATH}/999999999/resolve`, { reason })).status).toBe(404)
  })

  it('works with a truncated payload while the event is stored', async () => {
    const letter = await bury({ payload: { _truncated: true } })
    expect((await operator.get(`${PATH}/${letter.id}`)).body.data).toMatchObject({
      replayable: true,
      payload_error: expect.any(String),
    })
    expect((await replay(letter)).status).toBe(200)
    expect(await queued(letter.eventId)).toHaveLength(1)
  })

  it('restores a deleted event with its id, content and time', async () => {
    const letter = await bury({}, false)
    expect((await replay(letter)).status).toBe(200)
    const event = await app.core.db
      .selectFrom('events')
      .selectAll()
      .where('id', '=', letter.eventId)
      .executeTakeFirstOrThrow()
    expect(event).toMatchObject({ ...eventContent, created_at: '2026-05-01T10:00:00.123Z' })
    expect(await queued(letter.eventId)).toHaveLength(1)
  })

  it.each([true, false])(
    'queues the event as often as it answered, at once and again (event stored: %s)',
    async (isStored) => {
      const letter = await bury({}, isStored)
      const answers = await Promise.all([replay(letter), replay(letter)])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(await queued(letter.eventId)).toHaveLength(2)
      expect((await replay(letter)).status).toBe(200)
      expect(await queued(letter.eventId)).toHaveLength(3)
      expect((await letterOf(letter.id)).attempt_count).toBe(11)
    },
  )

  it('enqueues one event for repeated requests with one Idempotency-Key', async () => {
    const letter = await bury()
    const once = { headers: { 'idempotency-key': 'replay-once' } }
    for (let sent = 0; sent < 2; sent++) {
      const answer = await operator.post(`${PATH}/${letter.id}/replay`, { reason }, once)
      expect(answer.status).toBe(200)
    }
    expect(await queued(letter.eventId)).toHaveLength(1)
  })
})
