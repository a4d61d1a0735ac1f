import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, startApp } from '../../../../test/support/app.ts'
import type { Mail } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { MailQueue, QueuedMessage } from '../../../mail/mail-queue.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { pacingStage } from './pacing.stage.ts'
import { releasePaced } from './release-paced.ts'

const BASE = '/api/v1/reputation'
const WHY = { reason: 'new address' }

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp({ env: { DELIVERY_OPTIMIZER_ENABLED: 'true' } })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

/** A queue in memory, which records what is released. */
function fakeQueue() {
  const messages = new Map<string, QueuedMessage>()
  const released: string[] = []
  let isAway = false
  const queue: MailQueue = {
    isConfigured: true,
    async walk(visit) {
      for (const message of messages.values()) visit(message)
      return undefined
    },
    async probe() {},
    async flush() {},
    async flushOne() {},
    async reload() {},
    async hold() {
      return false
    },
    async delete() {
      return false
    },
    async requeue() {
      return false
    },
    async headers() {
      return undefined
    },
    async changeAll() {
      throw new Error('not used')
    },
    async release(id) {
      if (isAway) throw new Error('killed')
      const message = messages.get(id)
      if (message?.status !== 'hold') return false
      message.status = 'active'
      released.push(id)
      return true
    },
  }
  const away = (value: boolean) => {
    isAway = value
  }
  return { queue, messages, released, away }
}

let mail: ReturnType<typeof fakeQueue>
let core: Core
let domain: string
beforeEach(async () => {
  app.clock.reset()
  operator = await app.operator('operator')
  const { db } = app.core
  for (const table of ['paced_mail', 'warmup_schedules', 'isp_limits', 'send_counts'] as const) {
    await db.deleteFrom(table).execute()
  }
  mail = fakeQueue()
  core = { ...app.core, mailQueue: mail.queue }
  domain = `${ulid().toLowerCase()}.test`
})

const outgoing = (recipients: string[], { organizationId, email } = acme): Mail => ({
  direction: 'outbound',
  organizationId,
  sender: email,
  recipients,
  login: email,
  clientIp: undefined,
  message: new MimeMessage(Buffer.from('\r\n')),
})
/** A session does not last as long as the clock moves. */
async function advance(ms: number) {
  app.clock.advance(ms)
  operator = await app.operator('operator')
}
/** Passes the stage, then Postfix accepts what is left of it. */
async function send(recipients: string[], tenant = acme, stores = true) {
  const outcome = await pacingStage(core).apply(outgoing(recipients, tenant))
  if (outcome.kind !== 'pass') throw new Error(outcome.kind)
  const sent = []
  for (const one of outcome.mails) {
    const queue_id = `Q${ulid().slice(-12)}`
    mail.messages.set(queue_id, {
      queue_id,
      status: one.isHeld ? 'hold' : 'active',
      sender: one.sender,
      recipients: one.recipients.map((address) => ({ address, reason: null })),
      size: 1,
      arrived: new Date(),
    })
    if (stores) await one.queued?.(queue_id)
    sent.push({ queue_id, isHeld: one.isHeld === true, recipients: [...one.recipients] })
  }
  return sent
}
const isHeld = async (...args: Parameters<typeof send>) =>
  (await send(...args)).map((one) => one.isHeld)

/** The log names the result of a message, and it leaves the queue. */
async function log(queue_id: string, status: 'delivered' | 'bounced' | 'deferred') {
  const message = mail.messages.get(queue_id) as QueuedMessage
  if (status !== 'deferred') mail.messages.delete(queue_id)
  await app.core.db
    .insertInto('mail_log')
    .values(
      message.recipients.map(({ address }) => ({
        id: ulid(),
        timestamp: new Date().toISOString(),
        sender: message.sender,
        recipient: address,
        organization_id: acme.organizationId,
        status,
        queue_id,
      })),
    )
    .execute()
}
const setLimit = (limit: object, name = domain) =>
  operator.put(`${BASE}/isp-limits/${name}`, { ...limit, ...WHY })
const warmUp = (target: number, more: object = {}) =>
  operator.post(`${BASE}/warm-ups`, {
    ip_address: '192.0.2.60',
    organization_id: acme.organizationId,
    target_daily_volume: target,
    warmup_days: 5,
    ...WHY,
    ...more,
  })
const shown = async () => (await operator.get(`${BASE}/warm-ups`)).body.data.items[0]
const round = () => releasePaced.round(core)

describe('mail above the limit of a destination (B2.9)', () => {
  it('waits on hold, without delaying other recipients, and leaves in the next hour', async () => {
    await setLimit({ hourly_limit: 1 })
    expect(await isHeld([`a@${domain}`])).toEqual([false])
    const [now, held] = await send([`b@${domain}`, 'c@globex.test', 'd@other.test', `E@${domain}`])
    expect(now).toMatchObject({ isHeld: false, recipients: ['c@globex.test', 'd@other.test'] })
    expect(held).toMatchObject({ isHeld: true, recipients: [`b@${domain}`, `E@${domain}`] })
    expect(await isHeld([`f@${domain}`])).toEqual([true])
    expect(await isHeld([`a@${domain}`], globex)).toEqual([false])
    await round()
    expect(mail.released).toEqual([])
    const { items } = (await operator.get(`${BASE}/isp-limits?per_page=100`)).body.data
    expect(items.find((one: { domain: string }) => one.domain === domain)).toMatchObject({
      hourly_limit: 1,
      waiting: 2,
    })
    await advance(HOUR_MS)
    await round()
    expect(mail.released).toEqual([held?.queue_id])
    // The released message used up this hour, so the next one waits behind the other.
    expect(await isHeld([`g@${domain}`])).toEqual([true])
    await advance(HOUR_MS)
    await round()
    expect(mail.released).toHaveLength(2)
  })

  it('is released when the limit is raised, and passes where pacing is off', async () => {
    await setLimit({ daily_limit: 0 })
    expect(await isHeld([`a@${domain}`])).toEqual([true])
    expect(await isHeld(['a@[192.0.2.1]', 'x@globex.test'])).toEqual([false])
    const off = { ...core, config: { ...core.config, DELIVERY_OPTIMIZER_ENABLED: false } }
    const passed = await pacingStage(off).apply(outgoing([`b@${domain}`]))
    expect(passed).toMatchObject({ kind: 'pass', mails: [{ recipients: [`b@${domain}`] }] })
    const inbound = { ...outgoing([`b@${domain}`]), direction: 'inbound' as const }
    expect(await pacingStage(core).apply(inbound)).toMatchObject({ mails: [inbound] })
    await operator.delete(`${BASE}/isp-limits/${domain}`, WHY)
    await round()
    expect(mail.released).toHaveLength(1)
    expect(await app.core.db.selectFrom('paced_mail').selectAll().execute()).toEqual([])
  })
})

describe('mail that many messages of another tenant wait before', () => {
  it('is released when its own limit allows it', async () => {
    await setLimit({ daily_limit: 0 })
    for (let count = 0; count < 501; count++) await send([`r${count}@${domain}`])
    const other = `other.${domain}`
    await setLimit({ daily_limit: 0 }, other)
    const [held] = await send([`x@${other}`], globex)
    await operator.delete(`${BASE}/isp-limits/${other}`, WHY)
    await round()
    expect(mail.released).toEqual([held?.queue_id])
  })
})

describe('mail of an IP address in warm-up (B2.9)', () => {
  it('is counted when it is delivered, and the rest waits for the next day', async () => {
    await warmUp(3)
    const sent = []
    for (let i = 0; i < 5; i++) sent.push(...(await send([`r${i}@d${i}.test`])))
    expect(sent.map((one) => one.isHeld)).toEqual([false, false, false, true, true])
    expect(await isHeld(['x@far.test'], globex)).toEqual([false])
    expect(await shown()).toMatchObject({ sent_today: 0, under_way: 3, waiting: 2 })
    const ids = sent.map((one) => one.queue_id) as [string, string, string, string, string]
    await log(ids[0], 'delivered')
    await log(ids[1], 'bounced')
    await log(ids[2], 'deferred')
    await round()
    await round()
    // The bounced message does not count, so one more is released today.
    expect(mail.released).toEqual([ids[3]])
    expect(await shown()).toMatchObject({ sent_today: 1, under_way: 2, waiting: 1 })
    await log(ids[2], 'delivered')
    await log(ids[3], 'delivered')
    await round()
    expect(await shown()).toMatchObject({ sent_today: 3, under_way: 0, waiting: 1 })
    await advance(DAY_MS)
    await round()
    expect(mail.released).toEqual([ids[3], ids[4]])
    await log(ids[4], 'delivered')
    await round()
    expect(await shown()).toMatchObject({ day: 2, sent_today: 1, under_way: 0, waiting: 0 })
  })

  it('applies to all organizations without a schedule of their own if it names none', async () => {
    await warmUp(1, { organization_id: null })
    expect(await isHeld(['a@far.test'])).toEqual([false])
    expect(await isHeld(['a@far.test'], globex)).toEqual([true])
    await warmUp(5, { ip_address: '192.0.2.61', organization_id: globex.organizationId })
    expect(await isHeld(['b@far.test'], globex)).toEqual([false])
  })

  it('leaves when the schedule ends, is raised or deleted', async () => {
    await warmUp(1)
    await send(['a@far.test'])
    for (const name of ['b', 'c', 'd']) await send([`${name}@far.test`])
    await operator.put(`${BASE}/warm-ups/192.0.2.60`, { target_daily_volume: 2, ...WHY })
    await round()
    expect(mail.released).toHaveLength(1)
    await operator.delete(`${BASE}/warm-ups/192.0.2.60`, WHY)
    await round()
    expect(mail.released).toHaveLength(3)
  })

  it('is found again after a kill between Postfix and the database', async () => {
    await warmUp(1)
    const [first] = await send(['a@far.test'])
    const [lost] = await send(['b@far.test'], acme, false)
    // Postfix did not accept this one before the kill.
    const [never] = await send(['c@far.test'], acme, false)
    mail.messages.delete(never?.queue_id ?? '')
    await log(first?.queue_id ?? '', 'delivered')
    const age = { changed_at: new Date(Date.now() - HOUR_MS).toISOString() }
    await app.core.db.updateTable('paced_mail').set(age).execute()
    await round()
    const rows = () => app.core.db.selectFrom('paced_mail').select('queue_id').execute()
    expect(await rows()).toEqual([{ queue_id: lost?.queue_id }])
    await advance(DAY_MS)
    mail.away(true)
    await expect(round()).rejects.toThrow('killed')
    mail.away(false)
    await round()
    expect(mail.released).toEqual([])
    await app.core.db.updateTable('paced_mail').set(age).execute()
    await round()
    expect(mail.released).toEqual([lost?.queue_id])
    // An operator deletes the message from the queue: its place becomes free.
    mail.messages.delete(lost?.queue_id ?? '')
    await app.core.db.updateTable('paced_mail').set(age).execute()
    await round()
    expect(await rows()).toEqual([])
  })
})

describe('pacing with several mail hosts', () => {
  const addHost = (name: string, ...roles: string[]) =>
    app.core.db
      .insertInto('mail_hosts')
      .values({
        id: ulid(),
        name,
        roles,
        address: `${name}.internal.test`,
        imap_port: 993,
        pop3_port: 995,
        sieve_port: 4190,
        lmtp_port: 24,
        sync_port: 24100,
      })
      .execute()
  afterEach(() => app.core.db.deleteFrom('mail_hosts').execute())

  it('goes on while one host sends, and is off, with a note, from the second sender on', async () => {
    await addHost('front', 'proxy', 'mx', 'submission', 'outbound')
    await addHost('one', 'backend')
    await addHost('arrivals', 'mx')
    const { body } = await setLimit({ hourly_limit: 1 })
    expect(body.data).toMatchObject({ enforced: true, note: null })
    await send([`a@${domain}`])
    const [held] = await send([`b@${domain}`])
    expect(held?.isHeld).toBe(true)

    await addHost('second', 'outbound')
    expect(await isHeld([`c@${domain}`])).toEqual([false])
    expect((await operator.get(`${BASE}/isp-limits`)).body.data).toMatchObject({
      enforced: false,
      note: expect.stringContaining('several mail hosts'),
    })
    // Mail that was held before is still released.
    await advance(HOUR_MS)
    await round()
    expect(mail.released).toEqual([held?.queue_id])
  })

  it('refuses a warm-up, and lets mail of an earlier one pass', async () => {
    await warmUp(1)
    await addHost('first', 'submission')
    await addHost('second', 'submission')
    await send(['a@far.test'])
    expect(await isHeld(['b@far.test'])).toEqual([false])
    expect(await warmUp(1, { ip_address: '192.0.2.61' })).toMatchObject({
      status: 409,
      body: { msg: expect.stringContaining('several mail hosts') },
    })
  })
})

describe('warm-ups and limits in the console (B8)', () => {
  it('are created, listed, changed, paused and deleted, with audit rows', async () => {
    const created = await warmUp(5000, { ip_address: '::ffff:192.0.2.60', warmup_days: 3 })
    expect(created).toMatchObject({
      status: 201,
      body: { data: { ip_address: '192.0.2.60', day: 1, today_limit: 50, paused_at: null } },
    })
    expect((await warmUp(1)).status).toBe(409)
    const put = (body: object) =>
      operator.put(`${BASE}/warm-ups/192.0.2.60`, { ...body, ...WHY }).then((one) => one.body.data)
    await advance(DAY_MS)
    expect(await put({ paused: true })).toMatchObject({ day: 2, today_limit: 500 })
    await advance(10 * DAY_MS)
    expect(await shown()).toMatchObject({ day: 2, completed: false, today_limit: 500 })
    expect(await put({ paused: false })).toMatchObject({ day: 2, paused_at: null })
    await advance(DAY_MS)
    expect(await shown()).toMatchObject({ day: 3, today_limit: 5000 })
    const { body } = await operator.delete(`${BASE}/warm-ups/192.0.2.60`, WHY)
    expect(body.data).toEqual({ ip_address: '192.0.2.60', organization_id: acme.organizationId })
    expect((await operator.get(`${BASE}/warm-ups`)).body.data.items).toEqual([])
    expect((await setLimit({ hourly_limit: 7 }, 'gmail.com')).body.data).toMatchObject({
      domain: 'gmail.com',
      hourly_limit: 7,
      daily_limit: 2000,
      is_built_in: false,
      enforced: true,
      note: null,
    })
    expect((await operator.delete(`${BASE}/isp-limits/gmail.com`, WHY)).status).toBe(200)
    const audit = await app.core.db
      .selectFrom('operator_audit')
      .select(['action', 'organization_id'])
      .where('target_id', 'in', ['192.0.2.60', 'gmail.com'])
      .where('result', '=', 'success')
      .orderBy('id', 'desc')
      .limit(6)
      .execute()
    const of = (action: string, organization_id: string | null = acme.organizationId) => ({
      action,
      organization_id,
    })
    expect(audit.reverse()).toEqual([
      of('create_warm_up'),
      of('update_warm_up'),
      of('update_warm_up'),
      of('delete_warm_up'),
      of('set_isp_limit', null),
      of('delete_isp_limit', null),
    ])
  })

  it.each([
    ['post', '/warm-ups', { ip_address: 'x', target_daily_volume: 1, warmup_days: 1 }, 422],
    ['post', '/warm-ups', { ip_address: '192.0.2.1', target_daily_volume: 0, warmup_days: 1 }, 422],
    [
      'post',
      '/warm-ups',
      {
        ip_address: '192.0.2.1',
        organization_id: 'none',
        target_daily_volume: 1,
        warmup_days: 1,
      },
      422,
    ],
    ['put', '/warm-ups/192.0.2.99', { paused: true }, 404],
    ['put', '/warm-ups/192.0.2.99', {}, 400],
    ['put', '/warm-ups/x', { paused: true }, 422],
    ['delete', '/warm-ups/192.0.2.99', {}, 404],
    ['put', '/isp-limits/a%20b', { hourly_limit: 1 }, 422],
    ['put', '/isp-limits/far.test', {}, 400],
    ['put', '/isp-limits/far.test', { hourly_limit: -1 }, 422],
    ['delete', '/isp-limits/far.test', {}, 404],
  ] as const)('%s %s rejects %o with %i', async (method, path, body, status) => {
    const sent = { ...body, ...WHY }
    expect((await operator[method](`${BASE}${path}`, sent)).status).toBe(status)
    expect((await operator[method](`${BASE}${path}`, { ...body })).status).toBe(422)
    expect((await acme[method](`${BASE}${path}`, sent)).status).toBe(403)
  })

  it('act where other services ask too', async () => {
    await warmUp(1)
    await send(['a@far.test'])
    const question = {
      recipient_domain: 'far.test',
      organization_id: acme.organizationId,
      sender_ip: '192.0.2.60',
    }
    const { body } = await app.send('POST', '/check', {
      body: question,
      headers: { 'x-internal-token': INTERNAL_TOKEN },
    })
    expect(body).toMatchObject({ send_now: false, reason: expect.stringContaining('192.0.2.60') })
  })
})
