import type { MimeNode } from '@zone-eu/mailsplit'
import { decodeWords } from '../lib/encoded-words.ts'
import type { Part, Split } from './split.ts'

/** What can be said of a message without looking at its text. */
export interface Message {
  subject: string
  messageId: string | null
  /** Addresses of the From field, in lower case. */
  from: string[]
  size: number
  attachments: Attachment[]
  hasAttachment: boolean
  /** Every field of that name, decoded. */
  header(name: string): string[]
  isEncrypted: boolean
}

export interface Attachment {
  name: string
  type: string
}

const MAX_FIELD = 8192
const MAX_MESSAGE_ID = 500

export function readMessage({ root, parts }: Split, size: number): Message {
  const header = (name: string) => fieldsOf(root.node, name)
  const attachments = parts.filter(isAttachment).map(attachmentOf)
  return {
    subject: header('subject')[0] ?? '',
    messageId: header('message-id')[0]?.slice(0, MAX_MESSAGE_ID) || null,
    from: header('from').flatMap(addressesIn),
    size,
    attachments,
    hasAttachment: attachments.length > 0,
    header,
    isEncrypted: isEncrypted(root),
  }
}

/** The text of each field of that name, unfolded and decoded. */
export function fieldsOf({ headers }: MimeNode, name: string): string[] {
  if (!headers) return []
  return headers
    .get(name)
    .slice(0, 100)
    .map((line) => {
      const value = line.slice(line.indexOf(':') + 1, MAX_FIELD).replace(/\r?\n(?=[ \t])/g, '')
      const text = decodeWords(value)
        .replace(/[\r\n\0]/g, ' ')
        .trim()
      // Half a character would be none that the database takes.
      return Buffer.from(text).toString()
    })
}

const addressesIn = (text: string): string[] =>
  (text.match(/[^\s<>"(),;:]{1,64}@[^\s<>"(),;:]{1,255}/g) ?? []).map((one) => one.toLowerCase())

export const attachmentOf = ({ node }: Part): Attachment => ({
  name: node.filename || '',
  type: node.contentType || 'application/octet-stream',
})

const SIGNATURES = ['application/pgp-signature', 'application/pkcs7-signature']

/** Pictures that belong to a text, signatures and the text itself are none. */
export function isAttachment({ node, within }: Part): boolean {
  const { contentType, disposition, filename, multipart } = node
  if (multipart) return false
  if (disposition === 'attachment') return true
  const type = contentType || 'text/plain'
  if (SIGNATURES.includes(type) || SIGNATURES.includes(type.replace('/x-', '/'))) return false
  const isRelated = within.at(-1)?.multipart === 'related'
  if (isRelated && type.startsWith('image/')) return false
  return Boolean(filename) || !type.startsWith('text/')
}

/** Sealed as a whole, by S/MIME or OpenPGP. */
export function isEncrypted({ node }: Part): boolean {
  if (node.multipart === 'encrypted') return true
  if (!/^application\/(x-)?pkcs7-mime$/.test(node.contentType || '')) return false
  const type = node.headers ? node.headers.getFirst('content-type') : ''
  return !/smime-type\s*=\s*"?(signed|compressed)-data/i.test(type)
}

/** Covered by a signature, or sealed: whoever changes it breaks it. */
export const isProtected = ({ node, within }: Part): boolean =>
  [...within, node].some(
    ({ multipart, contentType }) =>
      multipart === 'signed' ||
      multipart === 'encrypted' ||
      /^application\/(x-)?pkcs7-mime$/.test(contentType || ''),
  )
