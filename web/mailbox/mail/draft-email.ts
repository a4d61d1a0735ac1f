import type { Address, Identity, Message } from './types.ts'

export interface Attached {
  blobId: string
  name: string
  type: string
  size: number
}

/** The message as written so far. */
export interface Draft {
  identity: Identity
  to: Address[]
  cc: Address[]
  bcc: Address[]
  subject: string
  text: string
  attachments: Attached[]
  inReplyTo: string[] | null
  references: string[] | null
}

/** The message as JMAP wants it, in the folder for drafts. */
export const emailOf = (draft: Draft, draftsId: string) => ({
  mailboxIds: { [draftsId]: true },
  keywords: { $draft: true, $seen: true },
  from: [{ name: draft.identity.name || null, email: draft.identity.email }],
  to: orNull(draft.to),
  cc: orNull(draft.cc),
  bcc: orNull(draft.bcc),
  subject: draft.subject,
  inReplyTo: draft.inReplyTo,
  references: draft.references,
  textBody: [{ partId: 'text', type: 'text/plain' }],
  bodyValues: { text: { value: draft.text } },
  attachments: draft.attachments.map(({ blobId, name, type }) => ({
    blobId,
    name,
    type,
    disposition: 'attachment',
  })),
})

const orNull = (addresses: Address[]) => (addresses.length > 0 ? addresses : null)

export const attachedOf = (parts: Message['attachments']): Attached[] =>
  parts.map(({ blobId, name, type, size }) => ({ blobId, name: name ?? type, type, size }))

/** Files of the stored draft have new ids; files that came or went meanwhile stay so. */
export const merged = (now: Attached[], sent: Attached[], stored: Attached[]): Attached[] =>
  now.map((one) => stored[sent.indexOf(one)] ?? one)
