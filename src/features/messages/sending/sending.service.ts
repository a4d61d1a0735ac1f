import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { invalidField } from '../../../errors.ts'
import { type Occurrence, occurrence } from '../../../events/events.ts'
import { suppressedAmong } from '../../../hosting/suppressions.repository.ts'
import { domainOf, toMailAddress } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import type { Attachment, Common, Letter } from './compose.ts'
import composeHere, { type Composed } from './compose-letters.task.ts'
import { type Mailbox, readMailbox } from './mailbox-text.ts'
import * as outbox from './outbox.repository.ts'
import { SenderNotAllowed, TooManyWaiting } from './sending.errors.ts'
import { EmailAccepted, EmailDropped } from './sending.events.ts'

const MAX_ATTACHED_BYTES = 10 * 1024 * 1024
/** All copies of a message with their attachments. */
const MAX_COPIES_BYTES = 250 * 1024 * 1024
const COMPOSE_LIMIT_MS = 20_000
/** More text is written in a worker thread. */
const MAX_HERE_LENGTH = 64 * 1024
const HEADERS =
  /^(X-(?!Mailplane-)[a-z0-9-]+|List-[a-z-]+|In-Reply-To|References|Auto-Submitted|Precedence|Importance)$/i

const composeTask = taskIn<typeof import('./compose-letters.task.ts')>(
  'features/messages/sending/compose-letters',
)

/** The fields that all messages of a request share, as they were sent. */
export interface SentCommon {
  from: string
  reply_to?: string[]
  headers?: Record<string, string>
  attachments?: { filename: string; content: string; content_type?: string; content_id?: string }[]
}

interface SentMessage extends SentCommon {
  to: string[]
  cc?: string[]
  bcc?: string[]
  subject: string
  html?: string
  text?: string
}

export interface Sender {
  organizationId: string
  mailbox: Mailbox
}

/** A message for one recipient. */
export interface Copy {
  to: Mailbox
  subject: string
  html?: string | undefined
  text?: string | undefined
}

/** One recipient of the envelope and its message. */
interface Addressed {
  recipient: string
  message_id: string
  letter: number
}

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now' | 'workers'>

export type SendingService = ReturnType<typeof sendingService>

/** Takes messages of the API for delivery: they are stored, then sent by `sendOutgoingMail`. */
export function sendingService(needs: Needs) {
  const { change, config, db, events, now, workers } = needs

  /** Addresses at the own active domains of an active organization may be senders. */
  async function senderOf({ scope }: Pick<Caller, 'scope'>, from: string): Promise<Sender> {
    const mailbox = readMailbox(from)
    const sender = mailbox && toMailAddress(mailbox.address)
    if (!mailbox || !sender) throw invalidField('from', 'Not an e-mail address')
    const domain = await outbox.findSendingDomain(db, scope, sender.domain)
    if (!domain) throw new SenderNotAllowed()
    return {
      organizationId: domain.organization_id,
      mailbox: { ...mailbox, address: sender.address },
    }
  }

  async function compose(owner: string, letters: readonly Letter[], sent: Prepared) {
    const { common, attachments } = sent
    const length = letters.reduce((sum, one) => sum + lengthOf(one), 0)
    const isHere =
      attachments.length === 0 && length <= MAX_HERE_LENGTH && letters.every(hasItsText)
    const composed = isHere
      ? composeHere({ letters, common, attachments })
      : await workers.run(
          composeTask,
          { letters, common, attachments },
          { owner, timeLimitMs: COMPOSE_LIMIT_MS },
        )
    if ('unreadable' in composed) {
      throw invalidField('attachments', `The attachment ${composed.unreadable} is not in base64`)
    }
    return composed
  }

  /** Stores the messages with their events; both or none. */
  async function accept(
    caller: Caller,
    sender: Sender,
    sent: { letters: readonly Letter[]; addressed: readonly Addressed[]; composed: Composed },
    templateId: string | undefined,
  ) {
    const { organizationId: organization_id, mailbox } = sender
    const { letters, addressed, composed } = sent
    const recipients = addressed.map(({ recipient }) => recipient)
    const suppressed = await suppressedAmong(db, recipients, organization_id, now())
    const isSuppressed = ({ recipient }: Addressed) => suppressed.has(recipient)
    const isShared = addressed.length > letters.length
    const end = Buffer.from(
      isShared ? `${composed.contents[0]}${composed.end ?? ''}` : (composed.end ?? ''),
    )
    const part_id = end.length > 0 ? ulid() : null
    const rows = addressed
      .filter((one) => !isSuppressed(one))
      .map(({ recipient, message_id, letter }): outbox.NewMessage => {
        const content = isShared ? '' : (composed.contents[letter] as string)
        return {
          id: ulid(),
          organization_id,
          message_id,
          sender: mailbox.address,
          recipient,
          subject: (letters[letter] as Letter).subject.slice(0, 1000),
          content,
          part_id,
          size_bytes: Buffer.byteLength(content) + end.length,
        }
      })
    if (rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0) > MAX_COPIES_BYTES) {
      throw invalidField('attachments', 'All copies together are too large; send to fewer people')
    }
    const limit = config.SENDING_MAX_WAITING
    await change(caller, async (tx) => {
      const waiting = await outbox.countWaiting(tx, organization_id, limit)
      if (waiting + rows.length > limit) throw new TooManyWaiting({ limit })
      if (part_id !== null && rows.length > 0) {
        await outbox.insertPart(tx, part_id, organization_id, end)
      }
      if (rows.length > 0) await outbox.insert(tx, rows, waiting, now())
      await events.emitMany(
        tx,
        addressed.map((one): Occurrence => {
          const about = { org_id: organization_id, domain: domainOf(mailbox.address) }
          const { message_id, recipient } = one
          const data = { message_id, sender: mailbox.address, recipient }
          return isSuppressed(one)
            ? occurrence(EmailDropped, about, { ...data, reason: 'suppressed' })
            : occurrence(EmailAccepted, about, {
                ...data,
                ...(templateId !== undefined && { template_id: templateId }),
              })
        }),
      )
    })
    return {
      messages: addressed.map((one) => ({
        message_id: one.message_id,
        to: one.recipient,
        status: isSuppressed(one) ? ('suppressed' as const) : ('queued' as const),
      })),
      queued: rows.length,
      suppressed: addressed.length - rows.length,
    }
  }

  return {
    senderOf,

    /** One message to all recipients. */
    async send(caller: Caller, sent: SentMessage) {
      const sender = await senderOf(caller, sent.from)
      const prepared = prepare(sender, sent, now())
      if (sent.html === undefined && sent.text === undefined) {
        throw invalidField('text', 'A message needs html or text')
      }
      const [to, cc, bcc] = (['to', 'cc', 'bcc'] as const).map((field) =>
        mailboxesIn(field, sent[field]),
      ) as [Mailbox[], Mailbox[], Mailbox[]]
      const { id, message_id } = newId(sender)
      const letter = { id, message_id, to, cc, subject: sent.subject, html: sent.html }
      const letters: Letter[] = [{ ...letter, text: sent.text }]
      const composed = await compose(sender.organizationId, letters, prepared)
      const addresses = new Set([...to, ...cc, ...bcc].map(({ address }) => address.toLowerCase()))
      const addressed = [...addresses].map((recipient) => ({ recipient, message_id, letter: 0 }))
      return accept(caller, sender, { letters, addressed, composed }, undefined)
    },

    /** A message of its own for each recipient. */
    async sendCopies(
      caller: Caller,
      sender: Sender,
      sent: SentCommon,
      copies: readonly Copy[],
      templateId: string,
    ) {
      const prepared = prepare(sender, sent, now())
      const letters = copies.map(
        ({ to, subject, html, text }): Letter => ({
          ...newId(sender),
          to: [to],
          cc: [],
          subject,
          html: html || undefined,
          text,
        }),
      )
      const composed = await compose(sender.organizationId, letters, prepared)
      const addressed = letters.map(({ message_id, to }, letter) => ({
        recipient: (to[0] as Mailbox).address.toLowerCase(),
        message_id,
        letter,
      }))
      return accept(caller, sender, { letters, addressed, composed }, templateId)
    },
  }
}

interface Prepared {
  common: Common
  attachments: Attachment[]
}

function prepare(sender: Sender, sent: SentCommon, date: Date): Prepared {
  const { headers = {}, attachments = [] } = sent
  const refused = Object.keys(headers).find((name) => !HEADERS.test(name))
  if (refused !== undefined) throw invalidField('headers', `${refused} cannot be set`)
  const attached = attachments.reduce((sum, { content }) => sum + (content.length * 3) / 4, 0)
  if (attached > MAX_ATTACHED_BYTES) throw invalidField('attachments', 'More than 10 MB together')
  return {
    common: {
      from: sender.mailbox,
      replyTo: mailboxesIn('reply_to', sent.reply_to),
      headers,
      date,
      boundary: attachments.length === 0 ? undefined : `=_${ulid()}.mixed`,
    },
    attachments: attachments.map((one) => ({
      ...one,
      content_type: one.content_type ?? 'application/octet-stream',
    })),
  }
}

export function mailboxIn(field: string, text: string): Mailbox {
  const mailbox = readMailbox(text)
  if (!mailbox) throw invalidField(field, `Not an e-mail address: ${text.slice(0, 100)}`)
  return mailbox
}

const mailboxesIn = (field: string, texts: readonly string[] = []): Mailbox[] =>
  texts.map((text) => mailboxIn(field, text))

const newId = ({ mailbox }: Sender) => {
  const id = ulid()
  return { id, message_id: `<${id.toLowerCase()}@${domainOf(mailbox.address)}>` }
}

const lengthOf = ({ html = '', text = '' }: Letter): number => html.length + text.length
const hasItsText = ({ html, text }: Letter): boolean => html === undefined || text !== undefined
