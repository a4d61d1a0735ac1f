import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { queueService } from './queue.service.ts'

const PATH = '/api/v1/queue'

describe('the queue without a Postfix', () => {
  it.each([undefined, '/nowhere/at/all'])('is unavailable with the folder %s', async (folder) => {
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

describe('a change of one message that Postfix fails', () => {
  const QUEUE_ID = '4jQ0zX1c7Pz9TWd'
  let app: App
  let operator: Awaited<ReturnType<App['operator']>>
  let acme: Awaited<ReturnType<App['tenant']>>
  let globex: typeof acme
  beforeAll(async () => {
    app = await startApp({ env: { POSTFIX_CONFIG_DIR: '/nowhere/at/all' } })
    operator = await app.operator('operator')
    acme = await app.tenant('acme')
    globex = await app.tenant('globex')
    const { db } = app.core
    await db.insertInto('mail_log_positions').values({ name: 'log' }).execute()
    const message = { queueId: QUEUE_ID, saslUsername: acme.email }
    const row = { log_name: 'log', queue_id: QUEUE_ID, seen: 1, message }
    await db.insertInto('mail_log_messages').values(row).execute()
  })
  afterAll(() => app.stop())

  const eventsOf = (org_id: string | null) =>
    app.core.db
      .selectFrom('events')
      .select(['event', 'data'])
      .where('org_id', 'is not distinct from', org_id)
      .where('event', 'like', 'queue.%')
      .orderBy('sequence')
      .execute()

  it('is an event of the organization that sent it, and leaves no event of success', async () => {
    const reason = { reason: 'a test' }
    const path = `${PATH}/message/${QUEUE_ID}`
    for (const answer of [
      await operator.post(`${path}/hold`, reason),
      await operator.post(`${path}/release`, reason),
      await operator.post(`${path}/requeue`, reason),
      await operator.delete(path, reason),
    ]) {
      expect(answer.status, answer.text).toBe(503)
    }
    const failed = {
      event: 'queue.message.failed',
      data: { queue_id: QUEUE_ID, error: expect.stringMatching(/./), operator_id: operator.id },
    }
    expect(await eventsOf(acme.organizationId)).toEqual([failed, failed, failed, failed])
    expect(await eventsOf(globex.organizationId)).toEqual([])
    const audited = await app.core.db
      .selectFrom('operator_audit')
      .select(['action', 'status_code'])
      .where('action', '=', 'hold_queued_message')
      .where('status_code', '<>', 202)
      .execute()
    expect(audited).toEqual([{ action: 'hold_queued_message', status_code: 503 }])
  })

  it('is no event while nothing but the id of a message is wrong', async () => {
    expect((await operator.post(`${PATH}/message/-/hold`, { reason: 'a test' })).status).toBe(404)
    expect(await eventsOf(null)).toEqual([])
  })
})

describe('lists of waiting mail of tenants', () => {
  it('read the queue once at a time for each organization, and a few times in all', async () => {
    const app = await startApp()
    try {
      const tenants = await Promise.all(
        ['acme', 'globex', 'initech'].map((name) => app.tenant(name)),
      )
      const [acme = '', ...others] = tenants.map(({ organizationId }) => organizationId)
      const first = Promise.withResolvers<undefined>()
      let walks = 0
      let running = 0
      let most = 0
      const walk = async () => {
        most = Math.max(most, ++running)
        await (++walks === 1 ? first.promise : setImmediate())
        running--
        return undefined
      }
      const mailQueue = { ...app.core.mailQueue, isConfigured: true, walk }
      const queue = queueService({ ...app.core, mailQueue })
      const list = (organization: string) => queue.own({ scope: { organization } })
      const many = Array.from({ length: 20 }, () => list(acme))
      await waitFor(() => running === 1)
      // The others do not wait for the one that asks twenty times.
      for (const organization of others) await list(organization)
      expect(walks).toBe(1 + others.length)
      first.resolve(undefined)
      expect(await Promise.all(many)).toHaveLength(20)
      expect(walks).toBe(20 + others.length)
      expect(most).toBe(2)
    } finally {
      await app.stop()
    }
  })
})
