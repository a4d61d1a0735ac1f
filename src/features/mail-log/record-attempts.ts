import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { type Occurrence, occurrence } from '../../events/events.ts'
import { ipNews } from '../../hosting/ip-news.ts'
import { record } from '../../hosting/ip-reputation.repository.ts'
import { scoresOf } from '../../hosting/mail-scores.repository.ts'
import { suppress } from '../../hosting/suppressions.repository.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { DAY_MS } from '../../lib/time.ts'
import type { Attempt, Read } from './attempts.ts'
import {
  EmailBounced,
  EmailDeferred,
  EmailDelivered,
  EmailRejected,
  HardBounce,
  SoftBounce,
} from './mail-log.events.ts'
import * as log from './mail-log.repository.ts'

const SOFT_BOUNCES = 5
const SOFT_BOUNCE_DAYS = 30
const EVENTS = {
  delivered: EmailDelivered,
  bounced: EmailBounced,
  deferred: EmailDeferred,
  rejected: EmailRejected,
}

type Needs = Pick<Core, 'events' | 'now'>

interface Added {
  /** The attempts that were not stored before. */
  fresh: Attempt[]
  logins: Map<string, log.Login>
}

/**
 * Works in two steps, because two portions of a log are stored at a time. `add` only inserts rows;
 * `conclude` updates rows that both portions may change, after the previous portion is committed.
 */
export const attemptRecorder = ({ events, now }: Needs) => ({
  /** Stores attempts and emits their events. */
  async add(tx: Tx, { attempts, logins }: Read): Promise<Added> {
    const names = new Set([...logins.keys()].map((name) => name.toLowerCase()))
    for (const { sasl_username } of attempts) {
      if (sasl_username !== null) names.add(sasl_username.toLowerCase())
    }
    const known = await log.loginsNamed(tx, [...names])
    if (attempts.length === 0) return { fresh: [], logins: known }
    await attribute(tx, attempts, known)
    await addScores(tx, attempts)
    const fresh = await log.insertNew(tx, attempts)
    await events.emitMany(tx, fresh.flatMap(occurrencesOf))
    return { fresh, logins: known }
  },

  /** Updates earlier attempts, credentials, suppressions and the reputation of client IP addresses. */
  async conclude(tx: Tx, { logins: uses }: Read, { fresh, logins }: Added): Promise<void> {
    await log.supersede(
      tx,
      fresh.flatMap(({ recipient, replaces }) => (replaces ? [{ ...replaces, recipient }] : [])),
    )
    await markUsed(tx, uses, logins)
    await suppressBounced(tx, fresh, now())
    await record(tx, newsOf(fresh), now())
  },
})

/** Counts messages and bounces by client IP. Deferred messages are counted when they leave the queue. */
function newsOf(fresh: Attempt[]) {
  const news = ipNews()
  for (const { client_ip, status } of fresh) {
    if (client_ip === null || status === 'deferred') continue
    news.mail(client_ip, { messages: 1, bounces: status === 'bounced' ? 1 : 0 })
  }
  return news.take()
}

async function markUsed(tx: Tx, uses: Read['logins'], logins: Added['logins']): Promise<void> {
  const credentials = [...uses].flatMap(([name, time]) => {
    const id = logins.get(name.toLowerCase())?.credential_id
    return id ? [{ id, at: new Date(time).toISOString() }] : []
  })
  await log.markUsed(tx, credentials)
}

/**
 * Sets organization, domain and credential in place, because a portion has many attempts. A message
 * belongs to its login, else to its recipient. The sender does not count: without a login anyone can
 * write the name of a tenant there.
 */
async function attribute(tx: Tx, attempts: Attempt[], logins: Added['logins']): Promise<void> {
  const domains = new Set<string>()
  for (const { sender, recipient, original_recipient, sasl_username } of attempts) {
    domains.add(domainOf(sender)).add(domainOf(recipient))
    domains.add(domainOf(sasl_username?.toLowerCase() ?? ''))
    if (original_recipient !== null) domains.add(domainOf(original_recipient))
  }
  const owners = await log.organizationsOf(tx, [...domains])
  for (const attempt of attempts) {
    const name = attempt.sasl_username?.toLowerCase() ?? ''
    const login = logins.get(name) ?? senderOfApi(name, owners)
    if (login) attributeToLogin(attempt, login, owners)
    else attributeToRecipient(attempt, owners)
  }
}

/** Mail of the API has an address as its login, which need not be one of a mailbox. */
function senderOfApi(name: string, owners: Map<string, string>): log.Login | undefined {
  const domain = domainOf(name)
  const organization_id = name.includes('@') ? owners.get(domain) : undefined
  return organization_id === undefined
    ? undefined
    : { name, organization_id, domain, credential_id: null }
}

/** Only incoming mail has a score; a sender could otherwise repeat a Message-ID. */
async function addScores(tx: Tx, attempts: Attempt[]): Promise<void> {
  const incoming = attempts.filter((one) => !one.is_outgoing && one.message_id !== null)
  const scores = await scoresOf(
    tx,
    incoming.map((one) => one.message_id as string),
  )
  const known = new Map(
    scores.map((one) => [`${one.organization_id} ${one.message_id}`, one.score]),
  )
  for (const attempt of incoming) {
    attempt.spam_score = known.get(`${attempt.organization_id} ${attempt.message_id}`) ?? null
  }
}

function attributeToLogin(attempt: Attempt, login: log.Login, owners: Map<string, string>): void {
  const from = domainOf(attempt.sender)
  attempt.organization_id = login.organization_id
  attempt.domain = owners.get(from) === login.organization_id ? from : login.domain
  attempt.is_outgoing = true
  attempt.credential_id = login.credential_id
}

function attributeToRecipient(attempt: Attempt, owners: Map<string, string>): void {
  const { sender, recipient, original_recipient } = attempt
  const recipients = [domainOf(recipient), domainOf(original_recipient ?? '')]
  const hosted = recipients.find((domain) => owners.has(domain))
  attempt.organization_id = hosted === undefined ? null : (owners.get(hosted) ?? null)
  attempt.domain = hosted ?? (domainOf(recipient) || domainOf(sender))
  attempt.is_outgoing = false
}

function occurrencesOf(attempt: Attempt): Occurrence[] {
  const { organization_id, domain, status, recipient, bounce_type, detail } = attempt
  const about = { org_id: organization_id, domain: domain === '' ? null : domain }
  const message_id = attempt.message_id ?? undefined
  const what = occurrence(EVENTS[status], about, {
    message_id,
    queue_id: attempt.queue_id,
    sender: attempt.sender,
    from: attempt.sender,
    recipient,
    to: recipient,
    domain,
    organization_id: organization_id ?? undefined,
    status,
    subject: attempt.subject ?? undefined,
    relay: attempt.relay ?? undefined,
    dsn: attempt.dsn ?? undefined,
    size: attempt.size ?? undefined,
    detail,
    timestamp: attempt.timestamp,
  })
  if (bounce_type === null || !isOwnMail(attempt)) return [what]
  const why = { recipient, bounce_type, bounce_reason: detail, message_id }
  return [what, occurrence(bounce_type === 'HARD' ? HardBounce : SoftBounce, about, why)]
}

/**
 * True for mail that an organization sent itself, with a login. A bounce notice, or a reply of a
 * mailbox filter, has no sender: the organization did not choose its recipient.
 */
const isOwnMail = ({ is_outgoing, sender }: Attempt): boolean => is_outgoing && sender !== ''

/** Suppresses recipients of bounced mail that the organization sent itself. */
async function suppressBounced(tx: Tx, fresh: Attempt[], now: Date): Promise<void> {
  const bounced = fresh.filter(isOwnMail).flatMap((attempt) => {
    const { recipient, organization_id, bounce_type, detail } = attempt
    return bounce_type !== null && organization_id !== null && recipient.includes('@')
      ? [{ email: recipient, recipient, organization_id, bounce_type, reason: detail }]
      : []
  })
  const hard = bounced.filter(({ bounce_type }) => bounce_type === 'HARD')
  const since = new Date(now.getTime() - SOFT_BOUNCE_DAYS * DAY_MS)
  const soft = await log.bouncingTooOften(
    tx,
    bounced.filter(({ bounce_type }) => bounce_type === 'SOFT'),
    since,
    SOFT_BOUNCES,
  )
  const rows = [
    ...hard.map((one) => ({ ...one, source: 'log_ingestor', bounce_type: 'HARD' as const })),
    ...soft.map(({ recipient, organization_id }) => ({
      email: recipient,
      organization_id,
      reason: `${SOFT_BOUNCES} soft bounces in ${SOFT_BOUNCE_DAYS} days`,
      source: 'log_ingestor',
      bounce_type: 'SOFT' as const,
    })),
  ]
  if (rows.length > 0) await suppress(tx, 'BOUNCE', rows, now)
}
