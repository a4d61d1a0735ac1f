import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../../../test/support/app.ts'
import { deadLetters, PATH, startBothApps } from '../../../../test/support/dead-letters.ts'

const reason = 'The receiver is up again'

let app: App
let operator: Awaited<ReturnType<App['operator']>>
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ app, stop } = await startBothApps())
  operator = await app.operator('operator')
})
afterAll(() => stop())

const { bury, queued, letterOf } = deadLetters(() => app)

describe.each(['replay-bulk', 'replay'])('replaying many with %s', (path) => {
  const many = (dead_letter_ids: unknown, more: object = { reason }) =>
    operator.post(`${PATH}/${path}`, { dead_letter_ids, ...more })

  it.each([
    [[], { reason }, 'dead_letter_ids'],
    ['1', { reason }, 'dead_letter_ids'],
    [undefined, { reason }, 'dead_letter_ids'],
    [[true], { reason }, 'dead_letter_ids'],
    [['1'], {}, 'reason'],
    [['1'], { reason: 'too short' }, 'reason'],
  ])('rejects the ids %j with %j', async (ids, more, field) => {
    const { status, body } = await many(ids, more)
    expect(status).toBe(422)
    expect(body.detail[0].loc.slice(0, 2)).toEqual(['body', field])
  })

  it('rejects more than 100 ids, repeated ones included', async () => {
    expect(await many(Array.from({ length: 101 }, () => '1'))).toMatchObject({
      status: 422,
      body: {
        type: 'error',
        msg: 'At most 100 dead_letter_ids per call (101 supplied)',
      },
    })
    const answer = await many(Array.from({ length: 100 }, (_, index) => `none-${index}`))
    expect(answer).toMatchObject({ status: 200, body: { msg: '0 of 100 dead letters re-queued' } })
  })

  it('replays letters once each, oldest first, and returns the others in the order sent', async () => {
    const one = await bury()
    const two = await bury({}, false)
    const resolved = await bury({ status: 'resolved' })
    const answer = await many([
      String(two.id),
      '999999999',
      String(one.id),
      two.id,
      String(resolved.id),
      'nothing',
      String(one.id),
    ])
    expect(answer).toMatchObject({
      status: 200,
      body: { msg: '2 of 5 dead letters re-queued' },
    })
    const shared = {
      event_type: 'domain.added',
      endpoint_url: 'https://hooks.host.test/',
      status: 'retrying',
    }
    expect(answer.body.data).toEqual({
      replayed: [
        { id: two.id, ...shared },
        { id: one.id, ...shared },
      ],
      failed: [
        { id: 999999999, error: 'not found' },
        { id: resolved.id, error: 'it is already resolved' },
        { id: 'nothing', error: 'not found' },
      ],
      requested: 5,
      note: expect.any(String),
    })
    const order = await queued(one.eventId, two.eventId, resolved.eventId)
    expect(order.map(({ event_id }) => event_id)).toEqual([one.eventId, two.eventId].sort())
    expect(await letterOf(one.id)).toMatchObject({ status: 'retrying', attempt_count: 9 })
  })

  it('does not deadlock when two callers replay the same letters in different orders', async () => {
    const letters = await Promise.all([bury(), bury({}, false), bury()])
    const ids = letters.map(({ id }) => String(id))
    const answers = await Promise.all([many(ids), many([...ids].reverse())])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    for (const { eventId } of letters) expect(await queued(eventId)).toHaveLength(2)
  })
})
