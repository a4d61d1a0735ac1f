import { join } from 'node:path'
import { expect } from 'vitest'
import { DAY_MS } from '../../../src/lib/time.ts'
import { type App, type Client, clientOf, PASSWORD } from '../app.ts'
import { startDnsServer } from '../dns-server.ts'
import { type MailHost, startMailHost } from '../edge.ts'
import { ACCOUNTS } from '../mailboxes.ts'
import { orStop } from '../or-stop.ts'
import { preparePebble } from '../pebble.ts'
import { waitFor } from '../wait.ts'
import { mailOf, type SmtpLogin } from './mail.ts'

export const COMPLIANCE = '/api/v1/compliance'
export const DOMAINS = '/api/v1/domains'
export const MAILBOX = '/api/v1/mailbox'
export const ME = '/api/v1/auth/me'
export const OPERATOR = '/api/v1/platform/auth'
export const SMTP = '/api/v1/smtp-credentials'
export const JANE = 'jane@acme.test'
export const JOHN = 'john@acme.test'
export const LEA = 'lea@globex.test'
export const ROOT = 'root@ops.test'
export const WHY = { reason: 'The story of a year' }

const HERE = { A: ['127.0.0.1'] }
/** The days from the start of the story, which is on 1 January. */
const daysUntil = (month: number, day = 1) => Math.round((month - 1) * 30.4) + day - 1
/** The database notes some times by its own clock, which stays at the start of the story. */
const BY_DATABASE_CLOCK = {
  // The story reads events of the whole year.
  WEBHOOK_FAILED_RETENTION_HOURS: String(24 * 400),
  // 30 days after the first mailbox is deleted.
  DELETED_MAIL_DAYS: String(daysUntil(11) + 30),
}

export type Year = Awaited<ReturnType<typeof startYear>>
type Tenant = Awaited<ReturnType<ReturnType<typeof peopleOf>['signUp']>>
type Mailbox = Awaited<ReturnType<ReturnType<typeof peopleOf>['mailbox']>>

interface Claim {
  domain: string
  dns_records: { name: string; value: string }[]
}

/** The state of the story: the chapter of January creates it, later ones change it. */
interface Story {
  tenants: { acme: Tenant; globex: Tenant }
  logins: { shop: SmtpLogin; crm: SmtpLogin }
  boxes: Record<string, Mailbox>
  /** Messages of the tenants to addresses outside that the host has accepted. */
  sent: { acme: number; globex: number }
  /** Messages of acme that were refused for now. */
  refused: number
}

/** A small host with its DNS and a CA, whose clock moves through a year, and its people. */
export async function startYear() {
  const pebble = await preparePebble()
  const dns = await startDnsServer({ 'acme.test': HERE })
  const stopRest = async () => {
    await dns.stop()
    await pebble.stop()
  }
  const starting = startMailHost({
    env: {
      ...pebble.env,
      SVC_DNS_SERVERS: dns.address,
      SVC_PUBLIC_URL: 'https://console.host.test',
      AUTH_DELAY_SECS: '0',
      ALERT_EVAL_INTERVAL_SECONDS: '1',
      MONITORING_SWEEP_SECONDS: '1',
      ...BY_DATABASE_CLOCK,
    },
  })
  const host = await orStop(starting, stopRest)
  const stop = async () => {
    await host.stop()
    await stopRest()
  }
  const { app } = host
  await orStop(pebble.start(Number(new URL(app.base).port), dns.address), stop)
  const story = { boxes: {}, sent: { acme: 0, globex: 0 }, refused: 0 } as unknown as Story
  const operator = await app.operator('owner', ROOT)

  return {
    story,
    host,
    app,
    certificates: join(app.dataDir, 'certificates'),
    ...calendarOf(app, operator),
    ...peopleOf(host),
    ...mailOf(host),

    /** Publishes the TXT record that proves the claim of a domain. */
    publish({ domain, dns_records }: Claim) {
      const record = dns_records.find(({ name }) => name === `_mailplane.${domain}`)
      dns.state.records[`_mailplane.${domain}`] = { TXT: [record?.value ?? ''] }
    },

    pathOf: (email: string) => story.boxes[email]?.path as string,

    /** The names of the events of an organization, in order; null means the platform. */
    async events(organizationId: string | null) {
      const rows = await app.core.db
        .selectFrom('events')
        .select('event')
        .where('org_id', organizationId === null ? 'is' : '=', organizationId)
        .orderBy('sequence')
        .execute()
      return rows.map(({ event }) => event)
    },

    stop,
  }
}

/** The clock of the host, and the session of its operator, which never lasts until the next date. */
function calendarOf(app: App, operator: Client & { secret: string }) {
  const begin = app.clock.now().getTime()
  const root = { now: operator as Client, secret: operator.secret }
  return {
    /** The current session of the owner of the platform. */
    root: () => root.now,

    replaceSecret(secret: string) {
      root.secret = secret
    },

    /** Moves the clock to a day of the year; the operator signs in with password and code. */
    async on(month: number, day = 1) {
      app.clock.advance(begin + daysUntil(month, day) * DAY_MS - app.clock.now().getTime())
      expect((await root.now.get(`${OPERATOR}/me`)).status).toBe(401)
      const session = await app.partialOperator(ROOT)
      expect(session.login.body.data, session.login.text).toMatchObject({ mfa_enrolled: true })
      const answer = await session.post(`${OPERATOR}/mfa`, { token: app.code(root.secret) })
      expect(answer.status, answer.text).toBe(200)
      root.now = session
      return session
    },

    /** The entries of the audit trail about an action, as the operator sees them. */
    async audit(action: string) {
      const path = `/api/v1/platform/audit?action=${action}&result=success&per_page=100`
      return (await root.now.get(path)).body.data.items as { target_id: string }[]
    },
  }
}

function peopleOf(host: MailHost) {
  const { app, sink } = host
  /** The token of a link that was mailed to an address, the first one unless said otherwise. */
  async function linkTo(email: string, nth = 0): Promise<string> {
    const mail = await waitFor(() => sink.to(email)[nth])
    // Quoted-printable wraps the long line of the link.
    return /auth\/link#([\w-]{43})/.exec(mail.data.replace(/=\r\n/g, ''))?.[1] ?? ''
  }
  const acceptLink = (token: string) =>
    app.send('POST', '/api/v1/auth/links/accept', { body: { token, password: PASSWORD } })

  return {
    linkTo,
    acceptLink,

    /** A new tenant: the operator creates it, its owner accepts the mailed invitation. */
    async signUp(operator: Client, id: string) {
      const owner = `owner@${id}-office.test`
      const fields = { id, name: `The ${id} company`, admin_email: owner }
      const created = await operator.post('/api/v1/organizations/', fields)
      expect(created.status, created.text).toBe(201)
      const token = await linkTo(owner)
      expect((await acceptLink(token)).status).toBe(200)
      expect((await acceptLink(token)).status).toBe(404)
      const scopes = { name: 'backend', organization_id: id, scopes: ['admin'] }
      const key = await operator.post('/api/v1/api-keys/', scopes)
      expect(key.status, key.text).toBe(201)
      return {
        ...clientOf(app, { 'x-api-key': key.body.data.api_key as string }),
        id,
        domain: `${id}.test`,
        dashboard: () => app.dashboard(owner),
      }
    },

    async mailbox(tenant: Client, email: string) {
      const answer = await tenant.post(ACCOUNTS, { email, password: PASSWORD, name: email })
      expect(answer.status, answer.text).toBe(201)
      return { email, path: `${ACCOUNTS}/${answer.body.data.id}` }
    },

    /** A login to the pages of a mailbox holder. */
    async holder(email_address: string, two_factor_code?: string) {
      const jar = new Map<string, string>()
      const login = await app.send('POST', '/api/v1/mailbox-auth/login', {
        body: { email_address, password: PASSWORD, ...(two_factor_code && { two_factor_code }) },
        jar,
      })
      return { login, ...clientOf(app, {}, jar) }
    },
  }
}
