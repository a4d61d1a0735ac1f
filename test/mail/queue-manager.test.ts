import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { queueManager } from '../../src/daemons/queue-manager.ts'
import { accountOf } from '../../src/edge/accounts.ts'
import { sampleQueue } from '../../src/features/queue/samples/sampler.ts'
import { MINUTE_MS } from '../../src/lib/time.ts'
import { type App, type Client, clientOf, INTERNAL_TOKEN, startApp } from '../support/app.ts'
import { type Postfix, postfixMissing, startPostfix } from '../support/postfix.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const missing = postfixMissing()
const PATH = '/api/v1/queue'
type Queued = Record<'queue_id' | 'status' | 'sender', string>

describe.skipIf(missing)(`the queue manager of a Postfix${missing ? `: ${missing}` : ''}`, () => {
  let postfix: Postfix
  /** Runs beside Postfix; the API knows no Postfix and asks it. */
  let manager: App
  let app: App
  let operator: Awaited<ReturnType<App['operator']>>
  let acme: Awaited<ReturnType<App['tenant']>>
  let globex: Awaited<ReturnType<App['tenant']>>
  let service: Client
  beforeAll(async () => {
    postfix = await startPostfix()
    manager = await startApp({
      env: { POSTFIX_CONFIG_DIR: postfix.configDir },
      daemons: [queueManager],
    })
    app = await startApp({
      env: { QUEUE_MANAGER_URL: manager.base },
      database: manager.database,
    })
    operator = await app.operator('operator')
    acme = await app.tenant('acme')
    globex = await app.tenant('globex')
    service = clientOf(manager, { 'x-internal-token': INTERNAL_TOKEN })
    await app.core.db.insertInto('mail_log_positions').values({ name: 'log' }).execute()
  })
  afterAll(async () => {
    await app?.stop()
    await manager?.stop()
    await postfix?.remove()
    await cleanUp()
  })
  beforeEach(() => app.core.db.deleteFrom('events').execute())

  /** The log ingestor notes the login of a queued message. */
  const sentBy = async (login: string, ...to: string[]) => {
    const queue_id = await postfix.defer(login, ...to)
    const message = { queueId: queue_id, saslUsername: login }
    const row = { log_name: 'log', queue_id, seen: 1, message }
    await app.core.db.insertInto('mail_log_messages').values(row).execute()
    return queue_id
  }
  const states = () =>
    Object.fromEntries(postfix.queue().map((one) => [one.queue_id, one.queue_name]))
  const events = () =>
    app.core.db
      .selectFrom('events')
      .select(['event', 'org_id', 'data'])
      .where('event', 'like', 'queue.%')
      .orderBy('sequence')
      .execute()
  const auditOf = (action: string) =>
    app.core.db
      .selectFrom('operator_audit')
      .select(['operator_email', 'target_id', 'request_body'])
      .where('action', '=', action)
      .where('status_code', '=', 200)
      .orderBy('id')
      .execute()

  it('lets an API without a Postfix list, hold, release and delete messages', async () => {
    const id = await sentBy(acme.email, 'a@far.test')
    const { body } = await operator.get(`${PATH}/queue/status`)
    expect(body.data.messages).toMatchObject([{ queue_id: id, status: 'deferred' }])
    const path = `${PATH}/message/${id}`
    expect((await operator.post(`${path}/hold`, { reason: 'look' })).status).toBe(200)
    expect(states()).toEqual({ [id]: 'hold' })
    expect((await operator.post(`${path}/release`)).status).toBe(200)
    await waitFor(() => states()[id] === 'deferred')
    expect((await operator.delete(path, { reason: 'test mail' })).status).toBe(200)
    expect(states()).toEqual({})
    expect((await operator.delete(path, { reason: 'test mail' })).status).toBe(404)
    expect((await operator.get(`${PATH}/health`)).status).toBe(200)
    expect(await auditOf('hold_queued_message')).toMatchObject([
      { operator_email: operator.email, target_id: id, request_body: { reason: 'look' } },
    ])
    expect((await events()).map(({ event, org_id }) => [event, org_id])).toEqual([
      ['queue.held', acme.organizationId],
      ['queue.released', acme.organizationId],
      ['queue.deleted', acme.organizationId],
    ])
  })

  it('is asked by an API process of an ordinary user, which has no helper', async () => {
    const { uid } = accountOf('www-data')
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir)
    chownSync(dataDir, uid, uid)
    const { SVC_SECRET_KEY = '' } = manager.core.config
    const env = {
      DATABASE_URL: manager.database.url,
      SVC_SECRET_KEY,
      SVC_INTERNAL_TOKEN: INTERNAL_TOKEN,
      SVC_COOKIE_SECURE: 'false',
    }
    const args = ['--services', 'api']
    const id = await sentBy(acme.email, 'a@far.test')
    // The programs of Postfix refuse this user.
    const alone = await startServer({
      dataDir,
      uid,
      args,
      env: { ...env, POSTFIX_CONFIG_DIR: postfix.configDir },
    })
    const path = `${PATH}/message/${id}`
    expect((await clientOf(alone, {}, operator.jar).post(`${path}/hold`)).status).toBe(503)
    await alone.stop()
    const server = await startServer({
      dataDir,
      uid,
      args,
      env: { ...env, QUEUE_MANAGER_URL: manager.base },
    })
    expect(statSync(`/proc/${server.pid}`).uid).toBe(uid)
    const client = clientOf(server, {}, operator.jar)
    expect((await client.post(`${path}/hold`)).status).toBe(200)
    expect(states()).toEqual({ [id]: 'hold' })
    expect((await client.get(path)).body.data).toMatchObject({ sender: acme.email })
    expect((await client.delete(path, { reason: 'the end' })).status).toBe(200)
    expect(states()).toEqual({})
    await server.stop()
  })

  it('refuses every request without the internal token, and commands that are none', async () => {
    const stranger = clientOf(manager, {})
    const command = { command: { verb: 'list' }, timeoutMs: 1000 }
    for (const [method, path, body] of [
      ['GET', '/api/status'],
      ['GET', '/api/statistics'],
      ['POST', '/flush', {}],
      ['POST', '/command', command],
      ['POST', '/messages', { action: 'delete', ids: ['ABCDEF0123'] }],
      ['POST', '/message/ABCDEF0123/delete', {}],
      ['GET', '/message/ABCDEF0123'],
    ] as const) {
      expect((await stranger.call(method, path, body)).status, path).toBe(401)
      expect((await operator.call(method, path, body)).status, path).toBe(404)
    }
    for (const wrong of [
      { verb: 'run' },
      { verb: 'hold', queueIds: ['ALL'] },
      { verb: 'hold', queueIds: ['-'] },
      { verb: 'hold', queueIds: Array(1001).fill('ABCDEF0123') },
    ]) {
      const sent = { command: wrong, timeoutMs: 1000 }
      expect((await service.post('/command', sent)).status, JSON.stringify(wrong)).toBe(422)
    }
    const none = await service.post('/command', { command: { verb: 'hold' }, timeoutMs: 1000 })
    expect(none.text).toContain('not a queue id')
  })

  it('does for other services what the routes of operators do, with events and audit rows', async () => {
    const id = await sentBy(acme.email, 'a@far.test')
    const other = await postfix.defer('x@elsewhere.test', 'b@far.test')
    expect((await service.get('/api/status')).body).toMatchObject({
      total_messages: 2,
      summary: { active: 0, deferred: 2, hold: 0 },
    })
    for (const action of ['hold', 'release', 'requeue', 'delete']) {
      for (const wrong of ['ABCDEF0123', 'ALL', '-', 'x;id']) {
        const path = `/message/${encodeURIComponent(wrong)}/${action}`
        expect((await service.post(path)).status, path).toBe(404)
      }
    }
    expect((await service.post(`/message/${id}/hold`, { reason: 'a rule' })).body).toEqual({
      success: true,
      queue_id: id,
      status: 'hold',
    })
    expect((await auditOf('hold_queued_message')).at(-1)).toMatchObject({
      operator_email: null,
      target_id: id,
      request_body: { reason: 'a rule' },
    })
    const many = await service.post('/messages', { action: 'delete', ids: [id, other, 'ABCDEF01'] })
    expect(many.body).toEqual({
      success: true,
      action: 'delete',
      changed: 2,
      not_found: ['ABCDEF01'],
    })
    expect(states()).toEqual({})
    expect((await events()).map(({ event, org_id }) => [event, org_id])).toEqual([
      ['queue.held', acme.organizationId],
      ['queue.deleted', acme.organizationId],
      ['queue.deleted', null],
    ])
    expect((await service.post('/flush')).body).toMatchObject({ success: true, flushed: 0 })
  })

  it('shows the header of a message to operators, and never the body', async () => {
    const id = await sentBy(acme.email, 'a@far.test', 'b@far.test')
    const path = `${PATH}/message/${id}`
    const support = await app.operator('support')
    const { body, text } = await support.get(path)
    expect(body.data).toMatchObject({
      queue_id: id,
      sender: acme.email,
      recipients: ['a@far.test', 'b@far.test'],
      truncated: false,
    })
    expect(body.data.headers).toContainEqual({ name: 'Subject', value: 'waiting' })
    expect(text).not.toContain('hello')
    expect((await service.get(`/message/${id}`)).text).not.toContain('hello')
    for (const wrong of ['ABCDEF0123', '..%2Fdeferred', 'ALL']) {
      expect((await support.get(`${PATH}/message/${wrong}`)).status).toBe(404)
    }
    expect((await acme.get(path)).status).toBe(403)
    await operator.delete(path, { reason: 'the end' })
  })

  it('requeues a deferred or held message, which gets a new id', async () => {
    const id = await sentBy(acme.email, 'a@far.test')
    const path = `${PATH}/message/${id}/requeue`
    expect((await operator.post(path)).status).toBe(422)
    expect((await (await app.operator('support')).post(path, { reason: 'x' })).status).toBe(403)
    await operator.post(`${PATH}/message/${id}/hold`)
    await app.core.db.deleteFrom('events').execute()
    expect(await operator.post(path, { reason: 'new route' })).toMatchObject({
      status: 200,
      body: { data: { queue_id: id, requeued: true } },
    })
    expect(states()[id]).toBe('maildrop')
    expect((await operator.post(path, { reason: 'again' })).status).toBe(404)
    expect(await events()).toMatchObject([
      {
        event: 'queue.flushed',
        org_id: acme.organizationId,
        data: { action: 'requeue', queue_id: id, count: 1, operator_id: operator.id },
      },
    ])
    expect(await auditOf('requeue_queued_message')).toMatchObject([
      { target_id: id, request_body: { reason: 'new route' } },
    ])
    await operator.delete(`${PATH}/message/${id}`, { reason: 'the end' })
  })

  it('changes what a filter matches only while the count is the one that was seen', async () => {
    const BY_FILTER = `${PATH}/mail-queue/by-filter`
    const one = await sentBy(acme.email, 'a@far.test')
    const two = await postfix.defer('x@elsewhere.test', 'b@FAR.test')
    const other = await postfix.defer('x@elsewhere.test', 'c@near.test')
    const filter = { action: 'delete', domain: 'far.test', reason: 'wrong address' }
    expect((await operator.post(BY_FILTER, filter)).body.data).toEqual({
      action: 'delete',
      matched: 2,
      summary: { active: 0, deferred: 2, hold: 0 },
      changed: 0,
      remaining: 2,
      queue_error: null,
    })
    const late = await postfix.defer('y@elsewhere.test', 'd@far.test')
    expect(await operator.post(BY_FILTER, { ...filter, expected_count: 2 })).toMatchObject({
      status: 409,
      body: { error_code: 'QUEUE_COUNT_CHANGED', data: { matched: 3 } },
    })
    expect(Object.keys(states()).sort()).toEqual([one, two, other, late].sort())
    for (const wrong of [
      { action: 'delete', reason: 'x' },
      { action: 'delete', status: 'deferred', reason: 'x' },
      { action: 'delete', domain: '-', reason: 'x' },
      { action: 'delete', domain: 'far.test' },
      { action: 'explode', domain: 'far.test', reason: 'x' },
    ]) {
      expect((await operator.post(BY_FILTER, wrong)).status, JSON.stringify(wrong)).toBe(422)
    }
    for (const [none, matched] of [
      [{ older_than_minutes: 60 }, 0],
      [{ larger_than_bytes: 1_000_000 }, 0],
      [{ error_contains: 'connection REFUSED' }, 4],
      [{ error_contains: 'no such user' }, 0],
      [{ sender: '@elsewhere.test', recipient: 'c@near.test' }, 1],
    ] as const) {
      const counted = await operator.post(BY_FILTER, { action: 'hold', reason: 'x', ...none })
      expect(counted.body.data.matched, JSON.stringify(none)).toBe(matched)
    }
    const done = await operator.post(BY_FILTER, { ...filter, expected_count: 3 })
    expect(done.body.data).toMatchObject({ matched: 3, changed: 3, remaining: 0 })
    expect(Object.keys(states())).toEqual([other])
    const deleted = (await events()).map(({ org_id, data }) => [
      org_id,
      (data as { count: number }).count,
    ])
    expect(deleted.sort()).toEqual(
      [
        [acme.organizationId, 1],
        [null, 2],
      ].sort(),
    )
    const bulk = await operator.post(`${PATH}/messages`, {
      action: 'delete',
      ids: [other, 'ABCDEF0123'],
      reason: 'the end',
    })
    expect(bulk.body.data).toEqual({ action: 'delete', changed: 1, not_found: ['ABCDEF0123'] })
  })

  it('shows and deletes the waiting mail of an organization, and of no other', async () => {
    const own = await sentBy(acme.email, 'a@far.test')
    const theirs = await sentBy(globex.email, 'b@far.test')
    // Mail from outside with the address of acme, and a login of globex with that sender.
    const forged = await postfix.defer('someone@acme.test', 'c@far.test')
    const stolen = await postfix.defer('someone@acme.test', 'd@far.test')
    const message = { queueId: stolen, saslUsername: globex.email }
    const row = { log_name: 'log', queue_id: stolen, seen: 1, message }
    await app.core.db.insertInto('mail_log_messages').values(row).execute()
    const list = async (client: Pick<Client, 'get'>) => {
      const { body } = await client.get(`${PATH}/own`)
      return body.data.messages.map(({ queue_id }: Queued) => queue_id)
    }
    expect(await list(acme)).toEqual([own])
    expect(await list(globex)).toEqual([theirs])
    const hidden = [theirs, forged, stolen, 'ABCDEF0123', 'ALL', '-']
    const foreign = [...hidden.map((id) => ({ client: acme, id })), { client: globex, id: stolen }]
    for (const { client, id } of foreign) {
      const answer = await client.delete(`${PATH}/own/${id}`, { reason: 'mine' })
      expect(answer, id).toMatchObject({
        status: 404,
        body: { msg: 'Message not found in the queue' },
      })
    }
    const reading = await app.key(acme.organizationId, { permissions: { read_only: true } })
    expect((await reading.delete(`${PATH}/own/${own}`, { reason: 'x' })).status).toBe(403)
    expect((await acme.delete(`${PATH}/own/${own}`)).status).toBe(422)
    expect(await acme.delete(`${PATH}/own/${own}`, { reason: 'a typo' })).toMatchObject({
      status: 200,
      body: { data: { queue_id: own, deleted: true } },
    })
    expect(Object.keys(states()).sort()).toEqual([theirs, forged, stolen].sort())
    expect(await events()).toMatchObject([
      {
        event: 'queue.deleted',
        org_id: acme.organizationId,
        data: { queue_id: own, actor: `api-key:${acme.organizationId}` },
      },
    ])
    expect(await auditOf('delete_own_queued_message')).toMatchObject([
      { operator_email: null, target_id: own, request_body: { reason: 'a typo' } },
    ])
    const ids = [theirs, forged, stolen]
    await operator.post(`${PATH}/messages`, { action: 'delete', ids, reason: 'the end' })
  })

  it('counts the queue for samples, alerts and metrics', async () => {
    const id = await postfix.defer('x@elsewhere.test', 'a@far.test')
    const later = () => new Date(Date.now() + 5 * 60 * MINUTE_MS)
    const { mailQueue } = manager.core
    await sampleQueue({ ...manager.core, mailQueue, now: later }, 'mx1')
    app.clock.advance(5 * 60 * MINUTE_MS)
    operator = await app.operator('operator')
    const { body } = await operator.get(`${PATH}/samples?hours=1`)
    expect(body.data.points).toMatchObject([
      { active: 0, deferred: 1, hold: 0, size_bytes: expect.any(Number) },
    ])
    expect(body.data.points[0].oldest_age_seconds).toBeGreaterThan(4 * 3600)
    const RULES = '/api/v1/platform/alerts/rules'
    const measured = async (metric: string, threshold: number) => {
      const rule = { name: metric, metric, comparator: '>', threshold }
      const created = await operator.post(RULES, rule)
      return (await operator.post(`${RULES}/${created.body.data.id}/evaluate`)).body.data
    }
    expect(await measured('queue_oldest_deferred_seconds', 4 * 3600)).toMatchObject({
      would_fire: true,
    })
    expect(await measured('queue_size_bytes', 1_000_000_000)).toMatchObject({ would_fire: false })
    expect((await operator.get(`${PATH}/samples?hours=721`)).status).toBe(422)
    expect((await acme.get(`${PATH}/samples`)).status).toBe(403)
    app.clock.reset()
    operator = await app.operator('operator')
    await operator.delete(`${PATH}/message/${id}`, { reason: 'the end' })
  })

  it.each([
    ['nobody listens', { QUEUE_MANAGER_URL: 'http://127.0.0.1:9' }],
    ['it has another token', { SVC_INTERNAL_TOKEN: 'the token of another installation' }],
  ])('is unavailable for an API when %s', async (_, env) => {
    const other = await startApp({
      env: { QUEUE_MANAGER_URL: manager.base, ...env },
      database: manager.database,
    })
    try {
      const caller = await other.operator('operator')
      for (const path of ['/health', '/queue/status', '/message/ABCDEF0123']) {
        expect(await caller.get(PATH + path)).toMatchObject({
          status: 503,
          body: { error: 'Queue service unavailable' },
        })
      }
      const deleted = await caller.delete(`${PATH}/message/ABCDEF0123`, { reason: 'x' })
      expect(deleted.status).toBe(503)
    } finally {
      await other.stop()
    }
  })
})
