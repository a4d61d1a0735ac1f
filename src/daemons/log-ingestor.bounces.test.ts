import { afterEach, describe, expect, it } from 'vitest'
import { startDoveadm } from '../../test/support/doveadm.ts'
import {
  cleanUp,
  events,
  onCleanUp,
  ours,
  run,
  settle,
  setUp,
  suppressions,
} from '../../test/support/log-ingestor.ts'
import { HARD, LATER, type mailLog, SOFT } from '../../test/support/mail-log.ts'
import { waitFor } from '../../test/support/wait.ts'
import { DAY_MS, HOUR_MS } from '../lib/time.ts'

afterEach(cleanUp)

describe('a bounce in the mail log', () => {
  it('suppresses the recipient for 30 days and emits an event when it is hard', async () => {
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
    const days = (Date.parse(first?.expires_at ?? '') - app.clock.now().getTime()) / DAY_MS
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
    app.clock.advance(HOUR_MS)
    log.message({ ...HARD, recipient: 'gone@elsewhere.test' })
    await settle(app, log)
    const [second, ...more] = await suppressions(app)
    expect(more).toEqual([])
    expect(second).toMatchObject({ id: first?.id, bounce_count: 2 })
    expect(Date.parse(second?.expires_at ?? '')).toBeGreaterThan(
      Date.parse(first?.expires_at ?? ''),
    )
  })

  it('suppresses the recipient after 5 soft bounces, and never after policy rejections', async () => {
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

  it('adds no suppression for inbound mail', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    log.message({ ...HARD, sender: 'a@far.test', recipient: 'gone@acme.test' })
    log.message({ ...HARD, sender: '', recipient: 'gone@acme.test' })
    await settle(app, log)
    expect(await ours(app)).toHaveLength(2)
    expect(await suppressions(app)).toEqual([])
  })

  it('B4.11: emits no delivery.bounce.* for mail that no local login sent', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    // A bounce notice that bounces, a reply of a mailbox filter, and mail from outside.
    log.message({ ...HARD, sender: '', login: '', recipient: 'forged@elsewhere.test' })
    log.message({ ...HARD, sender: '', recipient: 'asker@elsewhere.test' })
    log.message({ ...HARD, sender: 'a@far.test', login: '', recipient: 'gone@acme.test' })
    await settle(app, log)
    expect(await events(app, 'delivery.%')).toEqual([])
    expect(await suppressions(app)).toEqual([])
    expect(await events(app, 'email.bounced')).toHaveLength(3)
  })
})

describe('an SMTP credential with many failed deliveries', () => {
  const failing = (log: ReturnType<typeof mailLog>, good: number, bad: number) => {
    for (let i = 0; i < good; i++) log.message({ login: 'acme-login' })
    for (let i = 0; i < bad; i++) log.message({ login: 'acme-login', ...HARD })
  }
  const isActive = async (setup: Awaited<ReturnType<typeof setUp>>) =>
    (await setup.acme.get(`/api/v1/smtp-credentials/${setup.credential.id}`)).body.data.active

  it('stays active unless AUTO_SUSPEND_ENABLED is set', async () => {
    const setup = await setUp()
    await run(setup.app, setup.path)
    failing(setup.log, 0, 30)
    await settle(setup.app, setup.log)
    expect(await isActive(setup)).toBe(true)
  })

  it('is suspended after 10 failures in 20 messages, and its cached logins are flushed', async () => {
    const doveadm = await startDoveadm('key')
    onCleanUp(doveadm.stop)
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

  it('is not suspended for failures older than the window', async () => {
    const setup = await setUp({ AUTO_SUSPEND_ENABLED: 'true' })
    failing(setup.log, 0, 30)
    setup.app.clock.advance(2 * HOUR_MS)
    await run(setup.app, setup.path)
    await settle(setup.app, setup.log)
    expect(await isActive(setup)).toBe(true)
  })
})

describe('the reputation of a client IP', () => {
  it('counts messages and bounces once, also when the log is read twice', async () => {
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
