import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { type Occurrence, occurrence } from '../../events/events.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { ipNews } from '../reputation/ip-news.ts'
import { record } from '../reputation/ips.repository.ts'
import { suppress } from '../suppressions/suppressions.repository.ts'
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
const DAY_MS = 24 * 60 * 60 * 1000
const EVENTS = {
  delivered: EmailDelivered,
  bounced: EmailBounced,
  deferred: EmailDeferred,
  rejected: EmailRejected,
}

type Needs = Pick<Core, 'events' | 'now'>

interface Added {
  /** Those that were not stored before. */
  fresh: Attempt[]
  /** By the names that they log in with. */
  credentials: Map<string, string>
}

/**
 * In two steps, because portions of a log are stored two at a time: first what only adds rows, then,
 * when the portion before is committed, what changes rows that both may be about.
 */
export const attemptRecorder = ({ events, now }: Needs) => ({
  /** Stores attempts and their events. */
  async add(tx: Tx, { attempts, logins }: Read): Promise<Added> {
    const names = new Set([...logins.keys()].map((name) => name.toLowerCase()))
    for (const { sasl_username } of attempts) {
      if (sasl_username !== null) names.add(sasl_username.toLowerCase())
    }
    const credentials = await log.credentialsNamed(tx, [...names])
    if (attempts.length === 0) return { fresh: [], credentials }
    await attribute(tx, attempts, credentials)
    const fresh = await log.insertNew(tx, attempts)
    await events.emitMany(tx, fresh.flatMap(occurrencesOf))
    return { fresh, credentials }
  },

  /** What follows for credentials and for the addresses that mail came back from. */
  async conclude(tx: Tx, { logins }: Read, { fresh, credentials }: Added): Promise<void> {
    await markUsed(tx, logins, credentials)
    await suppressBounced(tx, fresh, now())
    await record(tx, newsOf(fresh), now())
  },
})

/** How much each client handed in, and how much of it came back. A message that waits is not new. */
function newsOf(fresh: Attempt[]) {
  const news = ipNews()
  for (const { client_ip, status } of fresh) {
    if (client_ip === null || status === 'deferred') continue
    news.mail(client_ip, { messages: 1, bounces: status === 'bounced' ? 1 : 0 })
  }
  return news.take()
}

async function markUsed(
  tx: Tx,
  logins: Read['logins'],
  credentials: Added['credentials'],
): Promise<void> {
  const uses = [...logins].flatMap(([name, time]) => {
    const id = credentials.get(name.toLowerCase())
    return id === undefined ? [] : [{ id, at: new Date(time).toISOString() }]
  })
  await log.markUsed(tx, uses)
}

/** In place: there are very many of them. */
async function attribute(
  tx: Tx,
  attempts: Attempt[],
  credentials: Added['credentials'],
): Promise<void> {
  const domains = new Set<string>()
  for (const { sender, recipient } of attempts) {
    domains.add(domainOf(sender)).add(domainOf(recipient))
  }
  const owners = await log.organizationsOf(tx, [...domains])
  for (const attempt of attempts) {
    const from = domainOf(attempt.sender)
    const to = domainOf(attempt.recipient)
    const ofSender = owners.get(from)
    const ofRecipient = owners.get(to)
    attempt.organization_id = ofSender ?? ofRecipient ?? null
    attempt.domain = ofSender === undefined && ofRecipient !== undefined ? to : from || to
    attempt.is_outgoing = ofSender !== undefined
    if (attempt.sasl_username !== null) {
      attempt.credential_id = credentials.get(attempt.sasl_username.toLowerCase()) ?? null
    }
  }
}

function occurrencesOf(attempt: Attempt): Occurrence[] {
  const { organization_id, domain, status, recipient, bounce_type, detail } = attempt
  const about = { org_id: organization_id, domain: domain === '' ? null : domain }
  // What is undefined is left out.
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
  if (bounce_type === null) return [what]
  const why = { recipient, bounce_type, bounce_reason: detail, message_id }
  return [what, occurrence(bounce_type === 'HARD' ? HardBounce : SoftBounce, about, why)]
}

/**
 * Only what an organization itself has sent counts: that mail for one of its mailboxes came back says
 * nothing about whom it writes to, and a stranger may claim to be anybody.
 */
async function suppressBounced(tx: Tx, fresh: Attempt[], now: Date): Promise<void> {
  const bounced = fresh.flatMap(
    ({ recipient, organization_id, bounce_type, detail, is_outgoing, is_stranger }) =>
      bounce_type !== null &&
      organization_id !== null &&
      is_outgoing &&
      !is_stranger &&
      recipient.includes('@')
        ? [{ email: recipient, recipient, organization_id, bounce_type, reason: detail }]
        : [],
  )
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
