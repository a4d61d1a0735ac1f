import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { takeSamples } from '../../src/features/monitoring/samples/sampler.ts'
import { type App, startApp } from '../support/app.ts'
import { type Postfix, postfixMissing, startPostfix } from '../support/postfix.ts'
import { run } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const missing = postfixMissing()
const PATH = '/api/v1/queue'
type Queued = Record<'queue_id' | 'status', string>
const HOSTILE_SENDER = '"}], <img src=x onerror=alert(1)>{{7*7}}"@globex.test'

describe.skipIf(missing)(`the queue of a real Postfix${missing ? `: ${missing}` : ''}`, () => {
  let postfix: Postfix
  let app: App
  let operator: Awaited<ReturnType<App['operator']>>
  let acme: Awaited<ReturnType<App['tenant']>>
  beforeAll(async () => {
    postfix = await startPostfix()
    app = await startApp({ env: { POSTFIX_CONFIG_DIR: postfix.configDir } })
    operator = await app.operator('operator')
    acme = await app.tenant('acme')
  })
  afterAll(async () => {
    await app?.stop()
    await postfix?.remove()
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
      .select(['event', 'org_id', 'domain', 'data'])
      .where('event', 'in', names)
      .orderBy('sequence')
      .execute()
  const statusOf = async (id: string) =>
    (await get('/queue/status')).messages.find((one: Queued) => one.queue_id === id)?.status

  const ids: Record<string, string> = {}
  beforeAll(async () => {
    ids.far = await postfix.defer('app@acme.test', 'one@far.test', 'two@far.test', 'x@near.test')
    ids.near = await postfix.defer('app@acme.test', 'y@Near.test')
    ids.other = await postfix.defer(HOSTILE_SENDER, 'z@other.test')
    // The log ingestor notes the login of a queued message. Everything here has a sender of acme,
    // and only the message to near.test was sent by a login of it (B5.5, S19).
    const { db } = app.core
    await db.insertInto('mail_log_positions').values({ name: 'log' }).execute()
    await db
      .insertInto('mail_log_messages')
      .values({
        log_name: 'log',
        queue_id: ids.near,
        seen: 1,
        message: { queueId: ids.near, saslUsername: acme.email.toUpperCase() },
      })
      .execute()
  })
  beforeEach(() => app.core.db.deleteFrom('events').execute())

  it('is counted and listed with the reason of each deferral', async () => {
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

  it('gives alert rules the number of deferred messages (B8)', async () => {
    await takeSamples(app.core)
    const RULES = '/api/v1/platform/alerts/rules'
    const { body } = await operator.post(RULES, {
      name: 'Mail waits',
      metric: 'queue_deferred',
      comparator: '>=',
      threshold: 3,
    })
    const evaluated = await operator.post(`${RULES}/${body.data.id}/evaluate`)
    expect(evaluated.body.data).toMatchObject({ value: 3, would_fire: true })
  })

  it('shows a hostile sender unchanged', async () => {
    expect(await get('/queue/domain/other.test')).toMatchObject({
      messages: [{ queue_id: ids.other, sender: HOSTILE_SENDER }],
    })
  })

  it('is shown per recipient domain, with whole messages and single deliveries', async () => {
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

  it('refuses queue ids that the Postfix commands would interpret differently', async () => {
    for (const id of ['ALL', '-', '-d', 'a b', `${ids.far};id`, '../deferred', 'x'.repeat(21)]) {
      const path = `${PATH}/message/${encodeURIComponent(id)}`
      expect((await operator.post(`${path}/hold`)).status).toBe(404)
      expect((await operator.post(`${path}/release`)).status).toBe(404)
      expect((await operator.delete(path, { reason: 'x' })).status).toBe(404)
      expect((await flush({ queue_id: id })).status).toBe(422)
    }
    expect((await operator.post(`${PATH}/message/ABCDEF012345/hold`)).status).toBe(404)
    expect(await get('/queue/status')).toMatchObject({ deferred: 3, hold: 0 })
    expect(await events('queue.held', 'queue.released', 'queue.flushed')).toEqual([])
  })

  it('flushes only messages that match the filters, and no message on hold', async () => {
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
      {
        event: 'queue.held',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: { queue_id: ids.near, count: 1, operator_id: operator.id },
      },
    ])
    // A sender without a login proves nothing.
    expect((await events('queue.flushed')).slice(-3)).toMatchObject([
      {
        org_id: null,
        domain: 'far.test',
        data: { queue_name: 'all', domain: 'far.test', count: 1, operator_id: operator.id },
      },
      { org_id: null, data: { queue_id: ids.near, count: 0 } },
      { org_id: null, data: { count: 1 } },
    ])
  })

  it('releases one message and delivers it', async () => {
    const answer = await operator.post(`${PATH}/message/${ids.near}/release`)
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Message released' } })
    await waitFor(() => postfix.received.some((to) => to.toLowerCase() === 'y@near.test'))
    expect(await events('queue.released')).toMatchObject([
      { org_id: acme.organizationId, data: { queue_id: ids.near, count: 1 } },
    ])
    const audit = await app.core.db
      .selectFrom('operator_audit')
      .select(['target_id', 'result', 'status_code'])
      .where('action', '=', 'release_queued_message')
      .where('target_id', '=', ids.near as string)
      .orderBy('id')
      .execute()
    // 202: before Postfix was asked.
    expect(audit).toEqual([
      { target_id: ids.near, result: 'success', status_code: 202 },
      { target_id: ids.near, result: 'success', status_code: 200 },
    ])
  })

  describe('by message and by sender (B8)', () => {
    const BY_SENDER = `${PATH}/mail-queue/by-sender`
    const change = async (body: object) => {
      const answer = await operator.post(BY_SENDER, { reason: 'stolen account', ...body })
      expect(answer.status, answer.text).toBe(200)
      return answer.body.data
    }
    const mailplane = (...args: string[]) =>
      run(args, {
        DATABASE_URL: app.database.url,
        DATA_DIR: app.dataDir,
        POSTFIX_CONFIG_DIR: postfix.configDir,
      })
    const auditOf = (action: string) =>
      app.core.db
        .selectFrom('operator_audit')
        .select(['operator_email', 'target_id', 'request_body'])
        .where('action', '=', action)
        .where('status_code', '=', 200)
        .orderBy('id')
        .execute()
    const left = async () =>
      (await get('/queue/status')).messages
        .map(({ queue_id, status }: Queued) => [queue_id, status])
        .sort()

    beforeAll(async () => {
      await postfix.refuse()
      ids.one = await postfix.defer('Stolen@acme.test', 'a@far.test')
      ids.two = await postfix.defer('stolen@acme.test', 'b@far.test')
      ids.mate = await postfix.defer('mate@acme.test', 'c@far.test')
      ids.like = await postfix.defer('x@not-acme.test', 'd@far.test')
    })

    it('counts the mail of a sender and changes nothing unless dry_run is false', async () => {
      const before = await left()
      expect(await change({ sender: 'STOLEN@acme.test', action: 'delete' })).toEqual({
        sender: 'stolen@acme.test',
        action: 'delete',
        dry_run: true,
        matched: 2,
        summary: { active: 0, deferred: 2, hold: 0 },
        changed: 0,
        remaining: 2,
        queue_error: null,
      })
      expect(await change({ sender: '@ACME.test', action: 'hold' })).toMatchObject({ matched: 3 })
      expect(await change({ sender: '@acme.test', action: 'release' })).toMatchObject({
        matched: 0,
      })
      expect(await left()).toEqual(before)
      expect(await events('queue.held', 'queue.deleted')).toEqual([])
      for (const body of [
        { sender: '@', action: 'hold', reason: 'x' },
        { sender: 'a@b.test', action: 'bounce', reason: 'x' },
        { sender: 'a@b.test', action: 'delete', dry_run: false },
        { sender: 'a@b.test', action: 'delete', dry_run: false, reason: '  ' },
      ]) {
        expect((await operator.post(BY_SENDER, body)).status).toBe(422)
      }
      const support = await app.operator('support')
      const request = { sender: 'a@b.test', action: 'hold', reason: 'x' }
      expect((await support.post(BY_SENDER, request)).status).toBe(403)
    })

    it('holds and releases all mail of a sender and no other', async () => {
      const held = { sender: 'stolen@acme.test', action: 'hold', dry_run: false }
      expect(await change(held)).toMatchObject({ matched: 2, changed: 2, remaining: 0 })
      expect(await change(held)).toMatchObject({ matched: 0, changed: 0 })
      expect(await left()).toEqual(
        [
          [ids.one, 'hold'],
          [ids.two, 'hold'],
          [ids.mate, 'deferred'],
          [ids.like, 'deferred'],
        ].sort(),
      )
      const released = await change({ ...held, action: 'release' })
      expect(released).toMatchObject({ matched: 2, changed: 2 })
      expect(await events('queue.held', 'queue.released')).toMatchObject([
        {
          event: 'queue.held',
          data: { sender: 'stolen@acme.test', count: 2, operator_id: operator.id },
        },
        { event: 'queue.released', data: { sender: 'stolen@acme.test', count: 2 } },
      ])
      expect((await auditOf('change_queue_of_sender')).at(-1)).toEqual({
        operator_email: operator.email,
        target_id: null,
        request_body: { reason: 'stolen account', ...held, action: 'release' },
      })
    })

    it('deletes one message, with a reason', async () => {
      const path = `${PATH}/message/${ids.like}`
      expect((await operator.delete(path)).status).toBe(422)
      expect((await operator.delete(path, { reason: ' ' })).status).toBe(422)
      expect(await operator.delete(path, { reason: 'test mail' })).toMatchObject({
        status: 200,
        body: { data: { queue_id: ids.like, deleted: true } },
      })
      expect((await operator.delete(path, { reason: 'test mail' })).status).toBe(404)
      expect(await statusOf(ids.like as string)).toBeUndefined()
      expect(await events('queue.deleted')).toMatchObject([
        { data: { queue_id: ids.like, count: 1, operator_id: operator.id } },
      ])
      expect(await auditOf('delete_queued_message')).toEqual([
        {
          operator_email: operator.email,
          target_id: ids.like,
          request_body: { reason: 'test mail' },
        },
      ])
    })

    it('does the same on the command line, with an event and an audit row', async () => {
      const listed = JSON.parse((await mailplane('queue', 'list', '--json')).stdout)
      expect(listed.map(({ queue_id }: { queue_id: string }) => queue_id).sort()).toEqual(
        [ids.one, ids.two, ids.mate].sort(),
      )
      const counted = await mailplane(
        ...['queue', 'delete', '--sender', 'stolen@acme.test', '--reason', 'hacked', '--json'],
      )
      expect(counted).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(counted.stdout)).toMatchObject({ matched: 2, changed: 0 })
      expect(await left()).toHaveLength(3)
      const deleted = await mailplane(
        ...['queue', 'delete', '--sender', 'stolen@acme.test'],
        ...['--reason', 'hacked', '--yes', '--json'],
      )
      expect(deleted).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(deleted.stdout)).toMatchObject({ matched: 2, changed: 2 })
      const one = await mailplane('queue', 'hold', ids.mate as string, '--reason', 'look', '--json')
      expect(JSON.parse(one.stdout)).toEqual({ queue_id: ids.mate, action: 'hold', changed: 1 })
      expect(await left()).toEqual([[ids.mate, 'hold']])
      expect(await events('queue.held', 'queue.deleted')).toMatchObject([
        { event: 'queue.deleted', data: { sender: 'stolen@acme.test', count: 2 } },
        { event: 'queue.held', data: { queue_id: ids.mate, count: 1 } },
      ])
      const reason = { reason: 'hacked', source: 'command line' }
      expect((await auditOf('change_queue_of_sender')).at(-1)).toMatchObject({
        operator_email: null,
        request_body: { ...reason, sender: 'stolen@acme.test', action: 'delete', changed: 2 },
      })
      expect(await mailplane('queue', 'delete', 'ABCDEF0123', '--reason', 'x')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'mailplane: there is no message ABCDEF0123 in the queue\n',
      })
      for (const wrong of [
        ['delete', ids.mate as string],
        ['hold', 'ABCDEF0123', '--sender', 'a@b.test', '--reason', 'x'],
      ]) {
        expect((await mailplane('queue', ...wrong)).code).toBe(2)
      }
      await operator.delete(`${PATH}/message/${ids.mate}`, { reason: 'the end' })
    })
  })

  it('is unavailable while Postfix is stopped and available after a start', async () => {
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
    expect((await flush({})).status).toBe(503)
    const bySender = { sender: 'a@b.test', action: 'delete', dry_run: false, reason: 'x' }
    expect((await operator.post(`${PATH}/mail-queue/by-sender`, bySender)).status).toBe(503)
    expect(await events('queue.flushed')).toEqual([])
    postfix.start()
    await waitFor(async () => (await operator.get(`${PATH}/health`)).status === 200)
  })
})
