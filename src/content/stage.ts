/** A message on its way through the content filter, between the mail server's two doors. */
export interface Passing {
  /** The sender has logged in, or it comes from outside to somebody hosted here. */
  direction: 'inbound' | 'outbound'
  /** Whose mail it is: the sender's organization when outbound, the recipients' when inbound. */
  organizationId: string
  /** Of the envelope; empty for a bounce. */
  sender: string
  recipients: readonly string[]
  /** Who has logged in; undefined for mail from outside. */
  login: string | undefined
  clientIp: string | undefined
  /** Every byte of it, lines ended by CR LF. */
  raw: Buffer
}

/** What becomes of a message. Only what was passed on goes to the next stage. */
export type Outcome =
  /** Goes on, as it was or changed; as several when recipients get different ones. */
  | { kind: 'pass'; messages: readonly Passing[] }
  /** Refused for good; the sender reads the text. */
  | { kind: 'reject'; text: string }
  /** Kept back by the stage, which has stored it. The sender is told that it was taken. */
  | { kind: 'held' }

/** One thing that is done with mail that passes. Throws: the message is to be tried again later. */
export interface Stage {
  name: string
  apply(message: Passing): Promise<Outcome>
  /** Stores what it has gathered; no message comes after it. */
  stop?(): Promise<void>
}
