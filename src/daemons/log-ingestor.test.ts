import { appendFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import {
  cleanUp,
  events,
  ours,
  run,
  settle,
  setUp,
  suppressions,
} from '../../test/support/log-ingestor.ts'
import { HARD, LATER, mailLog } from '../../test/support/mail-log.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { logIngestor } from './log-ingestor.ts'

afterEach(cleanUp)

describe('the log ingestor without a log file', () => {
  it('stores no position when no log file is configured', async () => {
    const { app } = await setUp()
    const daemon = await logIngestor.start(app.core)
    await daemon.stop()
    expect(await app.core.db.selectFrom('mail_log_positions').selectAll().execute()).toEqual([])
  })

  it('waits until the configured log file exists', async () => {
    const { app, path, log } = await setUp()
    const later = `${path}-later`
    await run(app, later)
    appendFileSync(later, log.lines('qmgr[1]: ABCDEF: removed'))
    const grown = mailLog(later, app.clock.now)
    await settle(app, grown)
  })
})

describe('a message in the mail log', () => {
  it('is stored as one row and one event when delivered, and counts as use of its credential', async () => {
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

  it('has a row for each attempt when deferred and then delivered, also across a restart', async () => {
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

  it('is stored as a soft bounce for the undelivered recipients when it expires', async () => {
    const { app, path, log } = await setUp()
    await run(app, path)
    const { queueId } = log.arrive()
    log.attempt(queueId, { ...LATER, recipient: 'one@elsewhere.test' })
    log.attempt(queueId, { ...LATER, recipient: 'two@elsewhere.test' })
    app.clock.advance(MINUTE_MS)
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

  it('belongs to the organization of its recipient when it comes from outside', async () => {
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

  it('never belongs to the owner of an unproven sender (S19)', async () => {
    const { app, path, acme, globex, log } = await setUp()
    await run(app, path)
    const stranger = { client: 'mx.far.test[203.0.113.9]', sender: 'ceo@acme.test' }
    log.message({ ...stranger, recipient: 'b@globex.test' })
    log.message({ ...stranger, recipient: 'x@elsewhere.test', ...HARD })
    // A program on this machine forwards mail of the stranger.
    log.message({ sender: 'ceo@acme.test', login: '', recipient: 'x@elsewhere.test' })
    log.refusal('554 5.7.1 <x@elsewhere.test>: Relay access denied', 'ceo@acme.test', 'x@far.test')
    // A login of globex belongs to globex, whatever the sender is.
    log.message({ sender: 'ceo@acme.test', login: globex.email, recipient: 'y@elsewhere.test' })
    await settle(app, log)
    const owners = (await ours(app)).map(({ recipient, organization_id }) => [
      recipient,
      organization_id,
    ])
    expect(owners.sort()).toEqual([
      ['b@globex.test', globex.organizationId],
      ['x@elsewhere.test', null],
      ['x@elsewhere.test', null],
      ['x@far.test', null],
      ['y@elsewhere.test', globex.organizationId],
    ])
    const named = (await events(app, 'email.%')).filter(
      ({ org_id }) => org_id === acme.organizationId,
    )
    expect(named).toEqual([])
    expect(await suppressions(app)).toEqual([])
  })

  it('does not belong to a tenant whose domain is pending', async () => {
    const { app, path, acme, log } = await setUp()
    await run(app, path)
    await acme.post('/api/v1/domains/', { domain: 'pending.test', dkim_enabled: false })
    log.message({ client: 'mx.far.test[203.0.113.9]', recipient: 'b@pending.test' })
    await settle(app, log)
    expect(await ours(app)).toMatchObject([{ organization_id: null }])
  })

  it('counts once for its credential when it passes through a content filter', async () => {
    const { app, path, log, credential } = await setUp()
    await run(app, path)
    const messageId = '<through@acme.test>'
    const first = log.arrive({ messageId, login: 'acme-login' })
    const second = log.arrive({ messageId, login: '' })
    log.attempt(first.queueId, { relay: 'tracking-filter', reply: '250 delivered via filter' })
    log.removed(first.queueId)
    log.attempt(second.queueId)
    log.removed(second.queueId)
    // This message returns from the filter after its first queue file was removed.
    const waiting = log.arrive({ messageId: '<slow@acme.test>', login: 'acme-login' })
    log.attempt(waiting.queueId, { relay: 'tracking-filter' })
    log.removed(waiting.queueId)
    const back = log.arrive({ messageId: '<slow@acme.test>', login: '' })
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

  it('does not count for a credential when a stranger reuses its Message-ID', async () => {
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
    log.message({ ...stolen, login: '', sender: 'bob@acme.test', recipient: 'fwd@far.test' })
    await settle(app, log)
    expect((await ours(app)).map(({ credential_id }) => credential_id)).toEqual([null, null])
    // The bounce of a forged sender adds no suppression.
    expect(await suppressions(app)).toEqual([])
  })
})

describe('last_used_at of an SMTP credential', () => {
  it('is updated at most once a minute', async () => {
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
    expect(Date.parse(await lastUse()) - Date.parse(first)).toBeGreaterThanOrEqual(MINUTE_MS)
  })
})

describe('the mail log', () => {
  it('is stored exactly once with partial lines, two ingestors and a second read from the start', async () => {
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

    // Reset the position so that the whole log is read again.
    await app.core.db
      .updateTable('mail_log_positions')
      .set({ offset: 0, head: Buffer.alloc(0), inode: '' })
      .execute()
    await settle(app, log)
    expect(await ours(app)).toEqual(before)
    expect(await events(app, 'email.%')).toHaveLength(55)
  })

  it('can contain invalid UTF-8 and a line of 3 MB', async () => {
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

  it('is read by one process until that process releases its lease', async () => {
    const { app, path, log } = await setUp()
    const first = await run(app, path)
    await settle(app, log)
    const owners = () =>
      app.core.db.selectFrom('mail_log_positions').select('lease_owner').execute()
    const before = await owners()
    const second = await run(app, path)
    log.message()
    await settle(app, log)
    expect(await owners()).toEqual(before)
    await first.stop()
    log.message()
    await settle(app, log)
    expect(await ours(app)).toHaveLength(2)
    await second.stop()
  })
})
