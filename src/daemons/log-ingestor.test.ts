import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { startDoveadm } from '../../test/support/doveadm.ts'
import { HARD, LATER, mailLog, newQueueId, SOFT } from '../../test/support/mail-log.ts'
import { waitFor } from '../../test/support/wait.ts'
import { logIngestor } from './log-ingestor.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function setUp(env: Record<string, string> = {}) {
  const app = await startApp({ env })
  cleanUps.push(app.stop)
  const path = join(app.dataDir, 'mail.log')
  writeFileSync(path, '')
  const acme = await app.tenant('acme')
  const globex = await app.tenant('globex')
  const { body } = await acme.post('/api/v1/smtp-credentials/', {
    domain_id: acme.domainId,
    username: 'acme-login',
  })
  return { app, path, acme, globex, credential: body.data, log: mailLog(path, app.clock.now) }
}

/** Started and stopped as often as a test wants. */
async function run({ core }: App, path: string) {
  const config = { ...core.config, MAIL_LOG_FILE: path }
  const daemon = await logIngestor.start({ ...core, config })
  let isStopped = false
  const stop = async () => {
    if (!isStopped) await daemon.stop()
    isStopped = true
  }
  cleanUps.push(stop)
  return { ...daemon, stop }
}

const rows = ({ core }: App) =>
  core.db.selectFrom('mail_log').selectAll().orderBy('timestamp').orderBy('queue_id').execute()
const events = ({ core }: App, like: string) =>
  core.db
    .selectFrom('events')
    .selectAll()
    .where('event', 'like', like)
    .orderBy('sequence')
    .execute()
const suppressions = ({ core }: App) => core.db.selectFrom('suppressions').selectAll().execute()

/** Something after everything else: once it is stored, so is what stands before it. */
async function settle(app: App, log: ReturnType<typeof mailLog>) {
  const queueId = newQueueId()
  log.message({ queueId, sender: 'end@nowhere.test', recipient: 'end@nowhere.test' })
  await waitFor(async () => (await rows(app)).some((row) => row.queue_id === queueId))
}
const ours = async (app: App) =>
  (await rows(app)).filter(({ sender }) => sender !== 'end@nowhere.test')

describe('without a log', () => {
  it('there is nothing to do', async () => {
    const { app } = await setUp()
    const daemon = await logIngestor.start(app.core)
    await daemon.stop()
    expect(await app.core.db.selectFrom('mail_log_positions').selectAll().execute()).toEqual([])
  })

  it('it waits until there is one', async () => {
    const { app, path, log } = await setUp()
    const later = `${path}-later`
    await run(app, later)
    appendFileSync(later, log.lines('qmgr[1]: ABCDEF: removed'))
    const grown = mailLog(later, app.clock.now)
    await settle(app, grown)
  })
})

describe('a message', () => {
  it('that is delivered becomes one row, one event, and use of its credential', async () => {
    const { app, path, acme, credential, log } = await setUp()
    await run(app, path)
    const { queueId, messageId } = log.message({ login: 'acme-login', subject: 'Grüße' })
    await settle(app, log)
    const [row, ...more] = await ours(app)
    expect(more).toEqual([])
    expect(row).toMatchObject({
      id: expect.stringMatching(/^[a-z2-7]{26}$/),
      sender: 'app@acme.test',
      recipient: 'jane@elsewhere.test',
      organization_id: acme.organizationId,
      subject: 'Grüße',
      status: 'delivered',
      message_id: messageId,
      queue_id: queueId,
      relay: 'mx.elsewhere.test[192.0.2.7]:25',
      size: 512,
      delays: '0.1/0/0.1/0.1',
      dsn: '2.0.0',
      bounce_reason: null,
      sasl_username: 'acme-login',
      credential_id: credential.id,
    })
    const [event, ...others] = (await events(app, 'email.%')).filter(
      ({ org_id }) => org_id === acme.organizationId,
    )
    expect(others).toEqual([])
    expect(event).toMatchObject({
      event: 'email.delivered',
      source: 'log_ingestor',
      domain: 'acme.test',
      data: {
        message_id: messageId,
        queue_id: queueId,
        sender: 'app@acme.test',
        from: 'app@acme.test',
        recipient: 'jane@elsewhere.test',
        to: 'jane@elsewhere.test',
        domain: 'acme.test',
        organization_id: acme.organizationId,
        status: 'delivered',
        relay: 'mx.elsewhere.test[192.0.2.7]:25',
        dsn: '2.0.0',
        subject: 'Grüße',
        size: 512,
        detail: '250 2.0.0 Ok',
        timestamp: row?.timestamp,
      },
    })
    const usage = await acme.get(`/api/v1/smtp-credentials/${credential.id}/usage`)
    expect(usage.body.data).toMatchObject({ total: 1, delivered: 1, last_used_at: row?.timestamp })
  })

  it('that is deferred and then delivered has a row for each attempt, also after a restart', async () => {
    const { app, path, log, credential } = await setUp()
    const first = await run(app, path)
    const { queueId, messageId } = log.arrive({ login: 'acme-login', subject: 'Patience' })
    log.attempt(queueId, LATER)
    await settle(app, log)
    await first.stop()
    app.clock.advance(300_000)
    log.attempt(queueId)
    log.removed(queueId)
    await run(app, path)
    await settle(app, log)
    const told = { subject: 'Patience', message_id: messageId, credential_id: credential.id }
    expect(await ours(app)).toMatchObject([
      { ...told, status: 'deferred', bounce_reason: '451 4.7.1 Greylisted' },
      { ...told, status: 'delivered', bounce_reason: null },
    ])
    expect(await app.core.db.selectFrom('mail_log_messages').selectAll().execute()).toEqual([])
  })

  it('that expires bounces for whoever did not get it', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    const { queueId } = log.arrive()
    log.attempt(queueId, { ...LATER, recipient: 'one@elsewhere.test' })
    log.attempt(queueId, { ...LATER, recipient: 'two@elsewhere.test' })
    app.clock.advance(60_000)
    log.attempt(queueId, { recipient: 'two@elsewhere.test' })
    log.write(`qmgr[13]: ${queueId}: from=<app@acme.test>, status=expired, returned to sender`)
    await settle(app, log)
    const bounced = (await ours(app)).filter(({ status }) => status === 'bounced')
    expect(bounced).toMatchObject([
      {
        recipient: 'one@elsewhere.test',
        bounce_type: 'SOFT',
        bounce_reason: '451 4.7.1 Greylisted',
      },
    ])
  })

  it('to one of our own domains from outside is attributed to its recipient', async () => {
    const { app, path, globex, log } = await setUp()
    await run(app, path)
    log.message({
      client: 'mx.far.test[203.0.113.9]',
      sender: 'a@far.test',
      recipient: 'b@GLOBEX.test',
    })
    log.refusal('550 5.1.1 <x@globex.test>: User unknown', 'a@far.test', 'x@globex.test')
    log.refusal('450 4.7.1 <x@globex.test>: later', 'a@far.test', 'x@globex.test')
    await settle(app, log)
    const of = { organization_id: globex.organizationId }
    expect(await ours(app)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ ...of, status: 'delivered', recipient: 'b@globex.test' }),
        expect.objectContaining({ ...of, status: 'rejected', queue_id: 'NOQUEUE', dsn: '5.1.1' }),
        expect.objectContaining({ ...of, status: 'deferred', queue_id: 'NOQUEUE' }),
      ]),
    )
    expect(await ours(app)).toHaveLength(3)
  })

  it('that goes through a filter counts once, for the credential it came with', async () => {
    const { app, path, log, credential } = await setUp()
    await run(app, path)
    const messageId = '<through@acme.test>'
    const first = log.arrive({ messageId, login: 'acme-login' })
    const second = log.arrive({ messageId })
    log.attempt(first.queueId, { relay: 'tracking-filter', reply: '250 delivered via filter' })
    log.removed(first.queueId)
    log.attempt(second.queueId)
    log.removed(second.queueId)
    // One that waits in the filter, and comes back when the first is gone.
    const waiting = log.arrive({ messageId: '<slow@acme.test>', login: 'acme-login' })
    log.attempt(waiting.queueId, { relay: 'tracking-filter' })
    log.removed(waiting.queueId)
    const back = log.arrive({ messageId: '<slow@acme.test>' })
    log.attempt(back.queueId)
    log.removed(back.queueId)
    await settle(app, log)
    expect(
      (await ours(app)).map(({ queue_id, credential_id }) => [queue_id, credential_id]),
    ).toEqual([
      [second.queueId, credential.id],
      [back.queueId, credential.id],
    ])
    expect(await app.core.db.selectFrom('mail_log_messages').selectAll().execute()).toEqual([])
  })

  it('of a stranger does not count for a credential because of its Message-ID', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    log.arrive({ messageId: '<known@acme.test>', login: 'acme-login' })
    const stolen = { messageId: '<known@acme.test>' }
    log.message({
      ...stolen,
      client: 'mx.far.test[203.0.113.9]',
      recipient: 'no@acme.test',
      ...HARD,
    })
    log.message({ ...stolen, sender: 'bob@acme.test', recipient: 'fwd@far.test' })
    await settle(app, log)
    expect((await ours(app)).map(({ credential_id }) => credential_id)).toEqual([null, null])
    // And what bounces for somebody who only says who he is, suppresses nobody.
    expect(await suppressions(app)).toEqual([])
  })
})

describe('the last use of a credential', () => {
  it('is written at most once a minute', async () => {
    const { app, path, acme, log, credential } = await setUp()
    await run(app, path)
    const lastUse = async () =>
      (await acme.get(`/api/v1/smtp-credentials/${credential.id}`)).body.data.last_used_at
    log.message({ login: 'ACME-LOGIN' })
    await settle(app, log)
    const first = await lastUse()
    expect(first).toEqual(expect.any(String))
    app.clock.advance(30_000)
    log.message({ login: 'acme-login' })
    await settle(app, log)
    expect(await lastUse()).toBe(first)
    app.clock.advance(40_000)
    log.message({ login: 'acme-login' })
    await settle(app, log)
    expect(Date.parse(await lastUse()) - Date.parse(first)).toBeGreaterThanOrEqual(60_000)
  })
})

describe('a bounce', () => {
  it('that is hard suppresses the address for a month, and says so', async () => {
    const { app, path, acme, log } = await setUp()
    await run(app, path)
    const { messageId } = log.message({ ...HARD, recipient: 'Gone@elsewhere.test' })
    await settle(app, log)
    const [first] = await suppressions(app)
    expect(first).toMatchObject({
      email: 'gone@elsewhere.test',
      organization_id: acme.organizationId,
      suppression_type: 'BOUNCE',
      bounce_type: 'HARD',
      bounce_count: 1,
      active: true,
      source: 'log_ingestor',
      reason: HARD.reply,
    })
    const days = (Date.parse(first?.expires_at ?? '') - app.clock.now().getTime()) / 86_400_000
    expect(days).toBeGreaterThan(29.9)
    expect(await events(app, 'delivery.%')).toMatchObject([
      {
        event: 'delivery.bounce.hard',
        source: 'postfix',
        org_id: acme.organizationId,
        data: {
          recipient: 'gone@elsewhere.test',
          bounce_type: 'HARD',
          bounce_reason: HARD.reply,
          message_id: messageId,
        },
      },
    ])
    app.clock.advance(3_600_000)
    log.message({ ...HARD, recipient: 'gone@elsewhere.test' })
    await settle(app, log)
    const [second, ...more] = await suppressions(app)
    expect(more).toEqual([])
    expect(second).toMatchObject({ id: first?.id, bounce_count: 2 })
    expect(Date.parse(second?.expires_at ?? '')).toBeGreaterThan(
      Date.parse(first?.expires_at ?? ''),
    )
  })

  it('that is soft does so the fifth time, a refusal of us never', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    for (let i = 0; i < 4; i++) log.message({ ...SOFT, recipient: 'full@elsewhere.test' })
    for (let i = 0; i < 9; i++) {
      log.message({
        status: 'bounced',
        dsn: '5.7.1',
        reply: 'spam',
        recipient: 'fussy@elsewhere.test',
      })
    }
    await settle(app, log)
    expect(await suppressions(app)).toEqual([])
    log.message({ ...SOFT, recipient: 'full@elsewhere.test' })
    await settle(app, log)
    expect(await suppressions(app)).toMatchObject([
      { email: 'full@elsewhere.test', bounce_type: 'SOFT', suppression_type: 'BOUNCE' },
    ])
    expect(await events(app, 'delivery.bounce.soft')).toHaveLength(14)
  })

  it('of what others sent to us suppresses nobody', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    log.message({ ...HARD, sender: 'a@far.test', recipient: 'gone@acme.test' })
    log.message({ ...HARD, sender: '', recipient: 'gone@acme.test' })
    await settle(app, log)
    expect(await ours(app)).toHaveLength(2)
    expect(await suppressions(app)).toEqual([])
  })
})

describe('a credential most of whose mail fails', () => {
  const failing = (log: ReturnType<typeof mailLog>, good: number, bad: number) => {
    for (let i = 0; i < good; i++) log.message({ login: 'acme-login' })
    for (let i = 0; i < bad; i++) log.message({ login: 'acme-login', ...HARD })
  }
  const isActive = async (setup: Awaited<ReturnType<typeof setUp>>) =>
    (await setup.acme.get(`/api/v1/smtp-credentials/${setup.credential.id}`)).body.data.active

  it('is left alone unless that is switched on', async () => {
    const setup = await setUp()
    await run(setup.app, setup.path)
    failing(setup.log, 0, 30)
    await settle(setup.app, setup.log)
    expect(await isActive(setup)).toBe(true)
  })

  it('is suspended at twenty messages of which half failed, and its logins are forgotten', async () => {
    const doveadm = await startDoveadm('key')
    cleanUps.push(doveadm.stop)
    const setup = await setUp({
      AUTO_SUSPEND_ENABLED: 'true',
      DOVEADM_URL: doveadm.url,
      DOVEADM_API_KEY: 'key',
    })
    const { app, path, log, acme, credential } = setup
    await run(app, path)
    failing(log, 10, 9)
    await settle(app, log)
    expect(await isActive(setup)).toBe(true)
    failing(log, 0, 1)
    await settle(app, log)
    await waitFor(() => doveadm.flushed().includes('acme-login'))
    expect(await isActive(setup)).toBe(false)
    const { body } = await acme.get(`/api/v1/smtp-credentials/${credential.id}/events`)
    expect(body.data.events[0]).toMatchObject({
      event: 'suspended',
      actor: 'log_ingestor',
      detail: JSON.stringify({ failed: 10, total: 20, window_hours: 1 }),
    })
    failing(log, 0, 5)
    await settle(app, log)
    const again = await acme.get(`/api/v1/smtp-credentials/${credential.id}/events`)
    expect(again.body.data.events).toHaveLength(body.data.events.length)
  })

  it('is not suspended for what happened long ago', async () => {
    const setup = await setUp({ AUTO_SUSPEND_ENABLED: 'true' })
    failing(setup.log, 0, 30)
    setup.app.clock.advance(2 * 3_600_000)
    await run(setup.app, setup.path)
    await settle(setup.app, setup.log)
    expect(await isActive(setup)).toBe(true)
  })
})

describe('the log', () => {
  it('is read exactly once, however it comes: in parts of lines, twice, and by two at a time', async () => {
    const { app, path, log } = await setUp()
    await Promise.all([run(app, path), run(app, path)])
    log.begin('qmgr[13]: ABCDEF: rem')
    appendFileSync(path, 'oved\n')
    for (let i = 0; i < 50; i++) log.message({ subject: `Number ${i}` })
    for (let i = 0; i < 3; i++) log.refusal('550 5.1.1 no', 'a@far.test', 'same@acme.test')
    await settle(app, log)
    const before = await ours(app)
    expect(before).toHaveLength(53)
    expect(await events(app, 'email.%')).toHaveLength(54)

    // As if nothing had been read.
    await app.core.db
      .updateTable('mail_log_positions')
      .set({ offset: 0, head: Buffer.alloc(0), inode: '' })
      .execute()
    await settle(app, log)
    expect(await ours(app)).toEqual(before)
    expect(await events(app, 'email.%')).toHaveLength(55)
  })

  it('may hold bytes that are no text, and lines without end', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    appendFileSync(path, Buffer.from([0xff, 0x00, 0xc3, 0x0a]))
    log.message({ subject: 'one' })
    appendFileSync(path, Buffer.alloc(3_000_000, 'x'))
    appendFileSync(
      path,
      `\n${log.lines('smtp[1]: 4jQ0zX1c7Pz9TWd: to=<a@acme.test>, relay=none, delay=0, delays=0/0/0/0, dsn=2.0.0, status=sent (after \xe9)')}`,
      'latin1',
    )
    log.message({ subject: 'two' })
    await settle(app, log)
    expect((await ours(app)).map(({ subject }) => subject).sort()).toEqual(
      [null, 'one', 'two'].sort(),
    )
  })

  it('is not read by two: who holds it has to give it back', async () => {
    const { app, path, log } = await setUp()
    const first = await run(app, path)
    await settle(app, log)
    const held = await app.core.db.selectFrom('mail_log_positions').select('owner').execute()
    const second = await run(app, path)
    log.message()
    await settle(app, log)
    expect(await app.core.db.selectFrom('mail_log_positions').select('owner').execute()).toEqual(
      held,
    )
    await first.stop()
    log.message()
    await settle(app, log)
    expect(await ours(app)).toHaveLength(2)
    await second.stop()
  })
})

describe('a client', () => {
  it('is known by what it handed in and what came back, also when the log is read twice', async () => {
    const { app, path, log } = await setUp()
    const client = 'mx.far.test[203.0.113.40]'
    log.message({ client })
    log.message({ client, ...HARD })
    log.message({ client, ...LATER, removed: false })
    log.message()
    const first = await run(app, path)
    await settle(app, log)
    await first.stop()
    await app.core.db.deleteFrom('mail_log_positions').execute()
    await run(app, path)
    await settle(app, log)
    const known = await app.core.db.selectFrom('ip_reputation').selectAll().execute()
    expect(known).toMatchObject([
      {
        ip_address: '203.0.113.40',
        reputation_score: 50,
        total_messages: 2,
        bounce_count: 1,
        total_connections: 0,
      },
    ])
  })
})
