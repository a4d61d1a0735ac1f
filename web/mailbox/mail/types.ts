/** Objects of JMAP (RFC 8620, RFC 8621), with the properties that the screens ask for. */

export interface Session {
  username: string
  apiUrl: string
  downloadUrl: string
  uploadUrl: string
  primaryAccounts: Record<string, string>
  accounts: Record<string, Account>
  capabilities: Record<string, { maxSizeUpload?: number }>
}

export interface Account {
  name: string
  isPersonal: boolean
  isReadOnly: boolean
}

export interface Address {
  name?: string | null
  email: string
}

export interface Folder {
  id: string
  name: string
  parentId: string | null
  role: string | null
  sortOrder: number
  totalThreads: number
  unreadThreads: number
  unreadEmails: number
  myRights: { mayDelete: boolean; mayRename: boolean }
}

/** The fields of a message that the server has in its index; cheap for many messages. */
export interface Summary {
  id: string
  blobId: string
  threadId: string
  mailboxIds: Record<string, true>
  keywords: Record<string, true>
  from: Address[] | null
  to: Address[] | null
  cc: Address[] | null
  subject: string | null
  receivedAt: string
  hasAttachment: boolean
  preview: string
}

export interface Part {
  partId: string | null
  blobId: string
  type: string
  name: string | null
  size: number
  disposition: string | null
  cid: string | null
}

/** A message with its text. */
export interface Message extends Summary {
  bcc: Address[] | null
  replyTo: Address[] | null
  sentAt: string | null
  messageId: string[] | null
  inReplyTo: string[] | null
  references: string[] | null
  textBody: Part[]
  htmlBody: Part[]
  attachments: Part[]
  bodyValues: Record<string, { value: string; isTruncated: boolean }>
}

export interface Thread {
  id: string
  emailIds: string[]
}

export interface Identity {
  id: string
  name: string
  email: string
  textSignature: string
}
