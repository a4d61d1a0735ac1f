import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { quarantineService } from '../../../src/features/message-trace/quarantine.service.ts'
import type { QueuedMessage } from '../../../src/mail/mail-queue.ts'
import type { App, Client } from '../../support/app.ts'
import { HOSTILE } from './hostile.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

/** Rows for the console: operators, what they did, mail and its traces. */
export async function seedConsole(app: App, tenant: Tenant): Promise<Record<string, string>> {
  const owner = await app.operator('owner', 'olga.owner@ops.test')
  return {
    ...(await seedOperators(app, owner)),
    ...(await seedTrace(app, tenant)),
    ...(await seedQuarantine(app, tenant)),
    ...(await seedAlerts(app, owner)),
    ...(await seedServices(app)),
    ...(await seedQueue(app)),
    ...seedLogs(app),
  }
}

async function seedOperators(app: App, owner: Client) {
  const added = await created(owner, '/api/v1/platform/operators', {
    email: 'sam.support@ops.test',
    full_name: 'Sam Support',
    password: 'a-long-passphrase-1',
    role: 'support',
  })
  await created(owner, '/api/v1/platform/operators', {
    email: 'ida.admin@ops.test',
    full_name: HOSTILE[0],
    password: 'a-long-passphrase-1',
    role: 'admin',
  })
  await app.session('operator', added.id, { from: '192.0.2.17' })
  const { body } = await owner.get('/api/v1/platform/audit?action=create_operator')
  return { operator_id: added.id, audit_id: String(body.data.items[0].id) }
}

const TRACED = '<order-4711@acme.test>'

async function seedTrace(app: App, { organizationId, domain, email }: Tenant) {
  const row = (minutesAgo: number, status: 'delivered' | 'bounced' | 'deferred' | 'rejected') => ({
    timestamp: new Date(app.clock.now().getTime() - minutesAgo * 60_000).toISOString(),
    organization_id: organizationId,
    sender: email,
    sasl_username: email,
    recipient: 'jane@elsewhere.test',
    subject: 'Your order 4711',
    message_id: TRACED,
    queue_id: '4jQ0zX1c7Pz9TWd',
    relay: 'mx.elsewhere.test[192.0.2.25]:25',
    size: 48_213,
    status,
  })
  await app.core.db
    .insertInto('mail_log')
    .values([
      {
        ...row(95, 'deferred'),
        id: 'seed-1',
        dsn: '4.2.0',
        bounce_reason:
          'host mx.elsewhere.test[192.0.2.25] said: 450 4.2.0 Greylisted, please try again in 300 seconds (in reply to RCPT TO command)',
      },
      { ...row(88, 'delivered'), id: 'seed-2', dsn: '2.0.0' },
      {
        ...row(87, 'bounced'),
        id: 'seed-3',
        recipient: 'gone@elsewhere.test',
        dsn: '5.1.1',
        bounce_reason:
          'host mx.elsewhere.test[192.0.2.25] said: 550 5.1.1 <gone@elsewhere.test>: Recipient address rejected: User unknown',
      },
      {
        ...row(30, 'rejected'),
        id: 'seed-4',
        sender: 'news@far.test',
        sasl_username: null,
        recipient: `person-1@${domain}`,
        subject: HOSTILE[0] as string,
        message_id: '<news-1@far.test>',
        queue_id: 'NOQUEUE',
        dsn: '5.7.1',
        bounce_reason: '554 5.7.1 Service unavailable; Client host [203.0.113.9] blocked',
      },
    ])
    .execute()
  const tracked = {
    organization_id: organizationId,
    domain,
    email_id: TRACED.slice(1, -1),
    recipient: 'jane@elsewhere.test',
  }
  await app.core.db
    .insertInto('tracking_events')
    .values([
      { ...tracked, id: 'seed-open', event_type: 'opened', automated: true },
      {
        ...tracked,
        id: 'seed-click',
        event_type: 'clicked',
        url: `https://shop.test/${HOSTILE[0]}`,
      },
    ])
    .execute()
  return { msg_id: TRACED }
}

async function seedQuarantine(app: App, { organizationId, domain }: Tenant) {
  const hold = (subject: string, more: object) =>
    app.core.db.transaction().execute((tx) =>
      quarantineService(app.core).hold(tx, {
        organization_id: organizationId,
        message_id: '<cheap@far.test>',
        queue_id: '4jQ0zX1c7Pz9TWe',
        sender: 'offers@far.test',
        recipient: `person-0@${domain}`,
        subject,
        reason: 'spam',
        spam_score: 12.5,
        headers: { From: 'Offers <offers@far.test>', Subject: subject },
        content: Buffer.from(`Subject: ${subject}\r\n\r\nHello\r\n`),
        ...more,
      }),
    )
  await hold('Cheap watches', {})
  await hold(HOSTILE[1] as string, { sender: HOSTILE[0] })
  await hold('Invoice', {
    reason: 'virus',
    spam_score: null,
    virus_name: 'Win.Test.EICAR_HDB-1',
    sender: 'billing@far.test',
  })
  return {}
}

async function seedAlerts(app: App, owner: Client) {
  const channel = await created(owner, '/api/v1/platform/alerts/channels', {
    name: 'On call',
    type: 'email',
    target: 'oncall@ops.test',
  })
  const rule = await created(owner, '/api/v1/platform/alerts/rules', {
    name: 'Queue grows',
    description: HOSTILE[2],
    metric: 'queue_depth',
    comparator: '>',
    threshold: 500,
    for_seconds: 300,
    severity: 'critical',
    channel_ids: [channel.id],
  })
  const ago = (hours: number) => new Date(app.clock.now().getTime() - hours * 3_600_000)
  const fired = {
    rule_id: rule.id,
    rule_name: 'Queue grows',
    metric: 'queue_depth',
    comparator: '>',
    severity: 'critical' as const,
    threshold: 500,
    message: 'Mail in the queue is 812, more than 500',
  }
  await app.core.db
    .insertInto('alert_events')
    .values([
      {
        ...fired,
        value: 640,
        state: 'resolved',
        created_at: iso(ago(30)),
        resolved_at: iso(ago(28)),
      },
      { ...fired, value: 812, state: 'firing', created_at: iso(ago(1)) },
    ])
    .execute()
  return {}
}

const iso = (time: Date) => time.toISOString()

async function seedServices(app: App) {
  const now = app.clock.now()
  const changed_at = iso(new Date(now.getTime() - 5 * 86_400_000))
  // Ahead of the clock, so that a slow run does not find the states too old.
  const checked_at = iso(new Date(now.getTime() + 3_600_000))
  const service = { protocol: 'http', critical: false, error: null, checked_at, changed_at }
  await app.core.db
    .insertInto('service_health')
    .values([
      {
        ...service,
        name: 'api',
        status: 'up',
        critical: true,
        response_time: 4,
        check_duration: 5,
      },
      { ...service, name: 'webhooks', status: 'degraded', response_time: 912, check_duration: 913 },
      {
        ...service,
        name: 'postfix',
        protocol: 'smtp',
        critical: true,
        status: 'down',
        response_time: null,
        check_duration: 5000,
        error: 'connect ECONNREFUSED 127.0.0.1:25',
      },
    ])
    .execute()
  await app.core.db
    .insertInto('host_health')
    .values([
      {
        host: 'mx1.acme.test',
        resource: 'cpu',
        level: 'ok',
        percent: 21,
        checked_at: iso(now),
        changed_at,
      },
      {
        host: 'mx1.acme.test',
        resource: 'disk',
        level: 'warning',
        percent: 87,
        checked_at: iso(now),
        changed_at,
      },
    ])
    .execute()
  await app.core.db
    .insertInto('metric_samples')
    .values(
      Array.from({ length: 48 }, (_, index) => ({
        metric: 'cpu_usage_percent',
        label: 'mx1.acme.test',
        minute: iso(new Date(now.getTime() - index * 30 * 60_000)),
        value: 20 + 15 * Math.sin(index / 4),
      })),
    )
    .execute()
  return {}
}

/** A log of a service of its own, because the application under test writes api.log. */
function seedLogs(app: App) {
  const line = (secondsAgo: number, level: string, msg: string, more: object = {}) =>
    JSON.stringify({
      level,
      time: iso(new Date(app.clock.now().getTime() - secondsAgo * 1000)),
      service: 'webhooks',
      ...more,
      msg,
    })
  const folder = join(app.dataDir, 'logs')
  mkdirSync(folder, { recursive: true })
  const lines = [
    line(95, 'info', 'the service has started'),
    line(60, 'warn', 'a delivery failed and is tried again', { status: 503 }),
    line(42, 'error', 'an endpoint was switched off after too many failures', {
      correlation_id: '01JD0000000000000000000000',
      name: HOSTILE[0],
    }),
  ]
  writeFileSync(join(folder, 'webhooks.log'), `${lines.join('\n')}\n`)
  return {}
}

/** The queue of Postfix, which does not run here. */
async function seedQueue(app: App) {
  const arrived = new Date(app.clock.now().getTime() - 90 * 60_000)
  const reason = 'connect to mx.elsewhere.test[192.0.2.25]:25: Connection timed out'
  const queued = (
    queue_id: string,
    status: QueuedMessage['status'],
    sender: string,
    ...to: string[]
  ): QueuedMessage => ({
    queue_id,
    status,
    sender,
    recipients: to.map((address) => ({ address, reason: status === 'deferred' ? reason : null })),
    size: 48_213,
    arrived,
  })
  const messages = [
    queued('4jQ0zX1c7Pz9TWa', 'active', 'admin@acme.test', 'jane@elsewhere.test'),
    queued(
      '4jQ0zX1c7Pz9TWb',
      'deferred',
      'news@acme.test',
      'a@elsewhere.test',
      'b@elsewhere.test',
      'c@far.test',
      'd@far.test',
    ),
    queued('4jQ0zX1c7Pz9TWc', 'hold', '<img/onerror=1>@far.test', 'person-1@acme.test'),
  ]
  app.core.mailQueue.walk = async (visit) => {
    for (const message of messages) visit(message)
    return undefined
  }
  // The login of the deferred message, as the mail log names it.
  const { db } = app.core
  const queue_id = '4jQ0zX1c7Pz9TWb'
  await db.insertInto('mail_log_positions').values({ name: 'screens' }).execute()
  const message = { queueId: queue_id, saslUsername: 'admin@acme.test' }
  await db
    .insertInto('mail_log_messages')
    .values({ log_name: 'screens', queue_id, seen: 1, message })
    .execute()
  const now = app.clock.now().getTime()
  await db
    .insertInto('queue_samples')
    .values(
      Array.from({ length: 48 }, (_, index) => ({
        host: 'mx1.acme.test',
        queue_name: 'deferred',
        minute: new Date(now - index * 30 * 60_000).toISOString(),
        message_count: 20 + (index % 7),
        size_bytes: 48_213 * 20,
        oldest_age_seconds: 5400,
      })),
    )
    .execute()
  return {}
}

async function created(client: Client, path: string, body: object) {
  const answer = await client.post(path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer.body.data
}
