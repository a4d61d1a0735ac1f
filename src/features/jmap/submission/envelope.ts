import type { Db } from '../../../database/database.ts'
import { senderRights } from '../../../hosting/sender-rights.repository.ts'
import { isObject } from '../../../lib/is-object.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import type { Head } from '../mime/header-forms.ts'

const MAX_RECIPIENTS = 1000

interface EnvelopeAddress {
  email: string
  parameters: Record<string, string | null> | null
}

/** The envelope of RFC 8621 section 7. */
export interface ShownEnvelope {
  mailFrom: EnvelopeAddress
  rcptTo: EnvelopeAddress[]
}

/** Reads the envelope that a client gives, or makes it from the header of the message. */
export function envelopeOf(given: unknown, identityEmail: string, head: Head): ShownEnvelope {
  const envelope = given === undefined || given === null ? fromHead(identityEmail, head) : given
  if (!isEnvelope(envelope)) throw invalidProperties(['envelope'])
  const { mailFrom, rcptTo } = envelope
  if (rcptTo.length === 0) throw new JmapError('noRecipients')
  if (rcptTo.length > MAX_RECIPIENTS) {
    throw new JmapError('tooManyRecipients', { maxRecipients: MAX_RECIPIENTS })
  }
  const wrong = rcptTo.filter(({ email }) => !isAddress(email)).map(({ email }) => email)
  if (wrong.length > 0) throw new JmapError('invalidRecipients', { invalidRecipients: wrong })
  if (!isAddress(mailFrom.email)) throw new JmapError('forbiddenMailFrom')
  const shown = ({ email }: EnvelopeAddress) => ({ email, parameters: null })
  return { mailFrom: shown(mailFrom), rcptTo: rcptTo.map(shown) }
}

function fromHead(email: string, { to, cc, bcc }: Head): ShownEnvelope {
  const all = [to, cc, bcc].flatMap((list) => list ?? []).map((one) => one.email)
  const shown = (address: string) => ({ email: address, parameters: null })
  return { mailFrom: shown(email), rcptTo: [...new Set(all)].map(shown) }
}

const isEnvelope = (value: unknown): value is ShownEnvelope =>
  isObject(value) &&
  isEnvelopeAddress(value.mailFrom) &&
  Array.isArray(value.rcptTo) &&
  value.rcptTo.every(isEnvelopeAddress)

/** No SMTP parameters are offered, see `submissionExtensions`. */
const isEnvelopeAddress = (value: unknown): value is EnvelopeAddress =>
  isObject(value) &&
  typeof value.email === 'string' &&
  (value.parameters === undefined ||
    value.parameters === null ||
    (isObject(value.parameters) && Object.keys(value.parameters).length === 0))

const isAddress = (email: string): boolean =>
  email.length <= 254 && /^[^\s@<>\x00-\x1f\x7f"\\]+@[^\s@<>\x00-\x1f\x7f]+$/.test(email)

/**
 * The sender for the mail server, which is also the login that it counts and filters for. A holder
 * who sends on behalf of a shared mailbox stays the sender, and is named in the message.
 */
export async function allowedSender(db: Db, login: string, mailFrom: string): Promise<string> {
  const address = mailFrom.toLowerCase()
  const [right] = await senderRights(db, login, [address])
  if (!right) throw new JmapError('forbiddenMailFrom')
  return right.on_behalf ? login : address
}
