import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { type Postfix, postfixMissing, startPostfix } from '../support/postfix.ts'
import { waitFor } from '../support/wait.ts'

const missing = postfixMissing()
const PATH = '/api/v1/queue'
const HOSTILE_SENDER = '"}], <img src=x onerror=alert(1)>{{7*7}}"@globex.test'

describe.skipIf(missing)(`the queue of a real Postfix${missing ? `: ${missing}` : ''}`, () => {
  let postfix: Postfix
  let app: App
  let operator: Awaited<ReturnType<App['operator']>>
  beforeAll(async () => {
    postfix = await startPostfix()
    app = await startApp({ env: { POSTFIX_CONFIG_DIR: postfix.configDir } })
    operator = await app.operator('operator')
  })
  afterAll(async () => {
    await app.stop()
    await postfix.remove()
  })

  const get = async (path: string) => {
    const answer = await operator.get(PATH + path)
    expect(answer.status, answer.text).toBe(200)
    return answer.body.data
  }
  const flush = (body: object) => operator.post(`${PATH}/mail-queue/flush`, body)
  const events = (...names: string[]) =>
    app.core.db
      .selectFrom('events')
      .select(['event', 'domain', 'data'])
      .where('event', 'in', names)
      .orderBy('sequence')
      .execute()
  const statusOf = async (id: string) =>
    (await get('/queue/status')).messages.find(
      ({ queue_id }: { queue_id: string }) => queue_id === id,
    )?.status

  const ids: Record<string, string> = {}
  beforeAll(async () => {
    ids.far = await postfix.defer('app@acme.test', 'one@far.test', 'two@far.test', 'x@near.test')
    ids.near = await postfix.defer('app@acme.test', 'y@Near.test')
    ids.other = await postfix.defer(HOSTILE_SENDER, 'z@other.test')
  })
  beforeEach(() => app.core.db.deleteFrom('events').execute())

  it('is counted and listed, with the reason why a message waits', async () => {
    const status = await get('/queue/status')
    expect(status).toMatchObject({
      total_messages: 3,
      total: 3,
      summary: { active: 0, deferred: 3, hold: 0 },
      deferred: 3,
      hold: 0,
      by_domain: [
        { domain: 'far.test', count: 2 },
        { domain: 'near.test', count: 2 },
        { domain: 'other.test', count: 1 },
      ],
      queue_error: null,
    })
    const far = status.messages.find(({ queue_id }: { queue_id: string }) => queue_id === ids.far)
    expect(far).toMatchObject({
      status: 'deferred',
      sender: 'app@acme.test',
      size: expect.any(Number),
    })
    expect(far.recipients.sort()).toEqual(['one@far.test', 'two@far.test', 'x@near.test'])
    expect(far.reason).toContain('Connection refused')
    expect(Math.abs(Date.parse(far.date) - Date.now())).toBeLessThan(120_000)
    expect(await get('/mail-queue/deferred')).toMatchObject({ total: 3, queue_error: null })
  })

  it('shows a sender that means no good as it is', async () => {
    expect(await get('/queue/domain/other.test')).toMatchObject({
      messages: [{ queue_id: ids.other, sender: HOSTILE_SENDER }],
    })
  })

  it('is shown per recipient domain, whole messages and single deliveries', async () => {
    const near = await get('/queue/domain/NEAR.test')
    expect(near).toMatchObject({ domain: 'near.test', total: 2, deferred: 2, active: 0, hold: 0 })
    expect(await get('/queue/domain/acme.test')).toMatchObject({ total: 0, messages: [] })
    const { jobs, total } = await get('/jobs/far.test')
    expect(total).toBe(2)
    expect(jobs.map(({ recipient }: { recipient: string }) => recipient).sort()).toEqual([
      'one@far.test',
      'two@far.test',
    ])
    expect(jobs[0]).toMatchObject({ queue_id: ids.far, status: 'deferred' })
    expect((await operator.get(`${PATH}/queue/domain/a%20b`)).status).toBe(422)
    expect((await operator.get(`${PATH}/jobs/-c`)).status).toBe(422)
  })

  it('takes nothing for a queue id that the programs would take for something else', async () => {
    for (const id of ['ALL', '-', '-d', 'a b', `${ids.far};id`, '../deferred', 'x'.repeat(21)]) {
      const path = `${PATH}/message/${encodeURIComponent(id)}`
      expect((await operator.post(`${path}/hold`)).status).toBe(404)
      expect((await operator.post(`${path}/release`)).status).toBe(404)
      expect((await flush({ queue_id: id })).status).toBe(422)
    }
    expect((await operator.post(`${PATH}/message/ABCDEF012345/hold`)).status).toBe(404)
    expect(await get('/queue/status')).toMatchObject({ deferred: 3, hold: 0 })
    expect(await events('queue.held', 'queue.released', 'queue.flushed')).toEqual([])
  })

  it('flushes what the filters name and nothing else, and leaves what is on hold alone', async () => {
    expect((await operator.post(`${PATH}/message/${ids.near}/hold`)).body.data).toEqual({
      queue_id: ids.near,
      status: 'hold',
    })
    expect(await statusOf(ids.near as string)).toBe('hold')
    for (const filter of [
      { older_than_minutes: 10 },
      { recipient: 'nobody@far.test' },
      { domain: 'nowhere.test' },
    ]) {
      expect((await flush(filter)).body.data).toMatchObject({ success: true, flushed: 0 })
    }
    await postfix.answer()
    const answer = await flush({ domain: 'FAR.test' })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: '1 message flushed',
        data: {
          success: true,
          flushed: 1,
          failed: 0,
          remaining: 0,
          filters: { domain: 'far.test', queue_name: 'all' },
        },
      },
    })
    await waitFor(() => postfix.received.length === 3)
    expect([...postfix.received].sort()).toEqual(['one@far.test', 'two@far.test', 'x@near.test'])
    expect((await flush({ queue_id: ids.near })).body.data.flushed).toBe(0)
    expect((await flush({})).body.data).toMatchObject({
      flushed: 1,
      filters: { queue_name: 'all' },
    })
    await waitFor(() => postfix.received.includes('z@other.test'))
    expect(postfix.received).not.toContain('y@near.test')
    expect(await statusOf(ids.near as string)).toBe('hold')
    expect(await events('queue.held', 'queue.released')).toMatchObject([
      { event: 'queue.held', data: { queue_id: ids.near, count: 1, operator_id: operator.id } },
    ])
    expect((await events('queue.flushed')).at(-3)).toMatchObject({
      domain: 'far.test',
      data: { queue_name: 'all', domain: 'far.test', count: 1, operator_id: operator.id },
    })
  })

  it('releases one message and delivers it', async () => {
    const answer = await operator.post(`${PATH}/message/${ids.near}/release`)
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Message released' } })
    await waitFor(() => postfix.received.some((to) => to.toLowerCase() === 'y@near.test'))
    expect(await events('queue.released')).toMatchObject([
      { data: { queue_id: ids.near, count: 1 } },
    ])
    const audit = await app.core.db
      .selectFrom('operator_audit')
      .select(['action', 'target_id', 'result'])
      .where('action', '=', 'release_queued_message')
      .where('target_id', '=', ids.near as string)
      .execute()
    expect(audit).toEqual([
      { action: 'release_queued_message', target_id: ids.near, result: 'success' },
    ])
  })

  it('is unavailable while Postfix is stopped, and there again when it is started', async () => {
    expect(await get('/health')).toEqual({ status: 'healthy', service: 'queue' })
    await postfix.stop()
    for (const path of [
      '/health',
      '/queue/status',
      '/queue/domain/far.test',
      '/mail-queue/deferred',
      '/jobs/far.test',
    ]) {
      expect(await operator.get(PATH + path)).toMatchObject({
        status: 503,
        body: { error: 'Queue service unavailable' },
      })
    }
    expect(await flush({})).toMatchObject({ status: 503 })
    expect(await events('queue.flushed')).toEqual([])
    postfix.start()
    await waitFor(async () => (await operator.get(`${PATH}/health`)).status === 200)
  })
})

describe('the queue without a Postfix', () => {
  it.each([undefined, '/nowhere/at/all'])('is unavailable: %s', async (folder) => {
    const app = await startApp({ env: folder ? { POSTFIX_CONFIG_DIR: folder } : {} })
    try {
      const operator = await app.operator('operator')
      for (const path of ['/queue/status', '/health', '/jobs/far.test']) {
        expect(await operator.get(PATH + path)).toMatchObject({
          status: 503,
          body: { error: 'Queue service unavailable' },
        })
      }
      expect((await operator.post(`${PATH}/mail-queue/flush`, {})).status).toBe(503)
    } finally {
      await app.stop()
    }
  })
})
