import type { MimeMessage } from '../mime/message.ts'

/** Mail on its way through the content filter, for one organization. */
export interface Mail {
  /**
   * Outbound if the sender has logged in, otherwise inbound to a hosted domain. Mail from one
   * organization of this host to another is outbound for the first, then inbound for the second.
   */
  direction: 'inbound' | 'outbound'
  /** The sender's organization when outbound, the recipients' organization when inbound. */
  organizationId: string
  /** The envelope sender; empty for a bounce. */
  sender: string
  recipients: readonly string[]
  /** The login name of the sender; undefined for mail from outside. */
  login: string | undefined
  clientIp: string | undefined
  /** A program sent it through the API: the login is an address, but no person wrote it. */
  isApi?: boolean
  /** Rspamd marks the message; mailbox filters move it to the junk folder. */
  isSpam?: boolean
  /** Domains that have proven that the message is theirs, by DKIM, SPF or DMARC. */
  verifiedDomains?: readonly string[]
  /** Postfix keeps the message on hold until it is released. */
  isHeld?: boolean
  /** Called when Postfix has accepted the message, with its queue id. */
  queued?: (queueId: string) => Promise<void>
  /** Stages share the parsed message. A stage that changes the bytes passes on a new one. */
  message: MimeMessage
}

/** The decision of a stage. Only mail that passes reaches the next stage. */
export type Outcome =
  /**
   * Continues, unchanged or changed; several if recipients get different messages. `rejected` is for
   * recipients that are refused while others are not.
   */
  | {
      kind: 'pass'
      mails: readonly Mail[]
      rejected?: readonly { mail: Mail; text: string }[]
    }
  /** Rejected permanently; the sender receives the text. */
  | { kind: 'reject'; text: string }
  /** Stored by the stage. The sender sees it accepted. */
  | { kind: 'held' }

/** One step of the content filter. If `apply` throws, the sender has to try again later. */
export interface Stage {
  name: string
  apply(mail: Mail): Promise<Outcome>
  /** Stores collected data. No mail follows. */
  stop?(): Promise<void>
}

/** Thrown by a stage to defer a message with a reason that the sender receives. */
export class TryLater extends Error {}
