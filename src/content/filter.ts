import type { Db } from '../database/database.ts'
import type { Senders } from '../hosting/senders.ts'
import { OutOfTime, PoolBusy } from '../lib/worker-pool.ts'
import type { Log } from '../log.ts'
import type { HandOver } from '../mail/handover.ts'
import { isHeaderTooLong, MAX_HEADER_BYTES, MAX_HEADER_LINES } from '../mime/headers.ts'
import { MimeMessage } from '../mime/message.ts'
import { bounceOf } from './bounce.ts'
import { type Part, passOn, type Recount } from './journey.ts'
import { isRedirect, takeOrigin } from './origin.ts'
import type { ReceivedMail, SmtpReply } from './received-mail.ts'
import type { Filtered } from './run-stages.ts'
import { type Mail, type Stage, TryLater } from './stage.ts'

interface Needs {
  db: Db
  stages: readonly Stage[]
  senders: Pick<Senders, 'find'>
  recount: Recount
  /** The last step, for recipients whose mailboxes encrypt what they receive. */
  encrypt: (mail: Mail) => Promise<Mail[]>
  handOver: HandOver
  hostname: string
  originKey: string
  now: () => Date
  log: Log
}

const TOO_LONG = '4.3.1 it takes too long to apply the rules to the message, try again later'
const HEADER_TOO_LONG = `5.6.0 the header of the message has more than ${MAX_HEADER_BYTES} bytes or ${MAX_HEADER_LINES} lines`
const DEFERRED = '4.3.0 the message cannot be looked at now, try again later'

/**
 * Filters a message from Postfix and replies after Postfix has accepted all that became of it. Every
 * failure before that defers the message: nothing is lost, and at worst mail is delivered twice.
 */
export const contentFilter =
  (needs: Needs) =>
  async (received: ReceivedMail): Promise<SmtpReply> => {
    try {
      return await filterMail(needs, received)
    } catch (error) {
      if (error instanceof TryLater) return { code: 451, text: `4.7.1 ${ascii(error.message)}` }
      if (error instanceof OutOfTime || error instanceof PoolBusy) {
        const { sender, raw } = received
        needs.log.warn(
          { err: error, sender, bytes: raw.length },
          'message takes too long, deferred',
        )
        return { code: 451, text: TOO_LONG }
      }
      needs.log.error({ err: error, alert: true }, 'content filter failed, message deferred')
      return { code: 451, text: DEFERRED }
    }
  }

async function filterMail(needs: Needs, received: ReceivedMail): Promise<SmtpReply> {
  if (isHeaderTooLong(received.raw)) return { code: 554, text: HEADER_TOO_LONG }
  const parts = await partsOf(needs, received)
  // All stages run before any mail is handed on: a later failure defers the whole message.
  const { passed, rejected, held } = await passOn(needs, parts)
  const [first] = rejected
  if (first && passed.length === 0 && held.length === 0) {
    return { code: 554, text: rejection(first.text) }
  }
  const ready: Part[] = []
  for (const part of passed) ready.push(...(await encrypted(needs, part)))
  let reply: SmtpReply = { code: 250, text: '2.0.0 Ok' }
  for (const part of ready) {
    reply = await deliver(needs, received, part)
    if (reply.code >= 400) return reply
  }
  // SMTP has one reply for all recipients, so a partial rejection is sent as a bounce.
  if (first) await bounce(needs, received, rejected)
  return reply
}

/** Splits received mail by organization: each has its own rules. */
async function partsOf(needs: Needs, received: ReceivedMail): Promise<Part[]> {
  const { originKey, senders } = needs
  const { message, origin } = await takeOrigin(new MimeMessage(received.raw), originKey)
  const recipients = received.recipients.map(({ address }) => address)
  const { sender } = received
  const common = { sender, clientIp: received.client.ip, message, recipients }
  if (origin) {
    const login = origin.login.toLowerCase()
    // A mailbox filter sends a rejection without a sender, so it belongs to no organization.
    if (origin.isAutomatic && sender === '') {
      return [{ mail: { ...common, direction: 'outbound', organizationId: '', login: undefined } }]
    }
    const known = await senders.find(login, 'outbound')
    if (!known) throw new TryLater('the login is not known here')
    const { organizationId } = known
    const mail = {
      ...common,
      direction: 'outbound' as const,
      organizationId,
      login: origin.login,
      isApi: origin.isApi,
    }
    // An operator decided for the sender's organization; the recipient's has not seen it yet.
    if (origin.isReleased) return [{ mail, signedFor: origin.login, account: login }]
    if (!origin.isAutomatic) {
      return [{ mail, hasStages: true, signedFor: origin.login, account: login }]
    }
    // A redirected message has passed the stages of this organization when it arrived. Its author is
    // outside the organization, so it is not signed.
    if (isRedirect(message)) return [{ mail, account: login }]
    // RFC 5230 §5.1: a reply has an empty sender, so that it is never answered.
    const reply = { ...mail, sender: '' }
    return [{ mail: reply, hasStages: true, signedFor: origin.login, account: login }]
  }
  const byOrganization = new Map<string, string[]>()
  for (const recipient of recipients) {
    const host = await senders.find(recipient.toLowerCase(), 'inbound')
    // The domain was removed after Postfix had accepted it; the next attempt is rejected by Postfix.
    if (!host) throw new TryLater(`the domain of ${recipient} is not hosted here`)
    const others = byOrganization.get(host.organizationId) ?? []
    byOrganization.set(host.organizationId, [...others, recipient])
  }
  return [...byOrganization].map(([organizationId, own]) => ({
    mail: {
      ...common,
      direction: 'inbound' as const,
      organizationId,
      login: undefined,
      recipients: own,
    },
    hasStages: true,
  }))
}

/** The signature of another organization's sender does not cover what was encrypted here. */
async function encrypted(needs: Needs, part: Part): Promise<Part[]> {
  const mails = await needs.encrypt(part.mail)
  return mails.map((mail) => {
    const isSigned = mail.message === part.mail.message || mail.direction === 'outbound'
    return { ...part, mail, signedFor: isSigned ? part.signedFor : undefined }
  })
}

async function deliver(
  { handOver, log }: Needs,
  received: ReceivedMail,
  { mail, signedFor }: Part,
): Promise<SmtpReply> {
  const parameters = new Map(received.recipients.map((one) => [one.address, one.parameters]))
  const { reply } = await handOver({
    sender: mail.sender,
    parameters: received.parameters,
    recipients: mail.recipients.map((address) => ({
      address,
      parameters: parameters.get(address) ?? [],
    })),
    login: signedFor,
    isHeld: mail.isHeld ?? false,
    client: received.client,
    content: mail.message.raw,
  })
  const last = reply.split(/\r?\n/).at(-1) ?? ''
  const queueId = /^2\d\d .*queued as ([A-Za-z0-9]+)$/.exec(last)?.[1]
  if (queueId !== undefined) {
    // Postfix has the message: a failure here must not make the sender send it again.
    await mail.queued?.(queueId).catch((error) => log.warn({ err: error }, 'queue id not stored'))
  }
  return { code: Number(last.slice(0, 3)) || 451, text: last.slice(4) || DEFERRED }
}

async function bounce(
  needs: Needs,
  received: ReceivedMail,
  rejected: Filtered['rejected'],
): Promise<void> {
  if (received.sender === '') return
  const { accepted, reply } = await needs.handOver({
    sender: '',
    parameters: ['BODY=8BITMIME'],
    recipients: [{ address: received.sender, parameters: [] }],
    login: undefined,
    isHeld: false,
    client: {},
    content: bounceOf(received, rejected, needs),
  })
  if (!accepted) needs.log.warn({ reply }, 'bounce not accepted by Postfix')
}

/** Rule authors choose these texts, so they are reduced to one line of ASCII. */
const ascii = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 400)
const rejection = (text: string): string =>
  /^5\.\d{1,3}\.\d{1,3} /.test(text) ? ascii(text) : `5.7.1 ${ascii(text)}`
