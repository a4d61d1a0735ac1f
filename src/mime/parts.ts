import type { MimeNode } from '@zone-eu/mailsplit'
import { textOf } from './charset.ts'
import type { HeaderLine } from './headers.ts'
import type { Part } from './structure.ts'
import { decodeWords } from './words.ts'

const MAX_FIELD = 8192
const MAX_FIELDS = 100
// A character of UTF-8 takes up to four bytes.
const MAX_LINE = 4 * MAX_FIELD

export interface Attachment {
  name: string
  type: string
}

/** The text of each field of that name, unfolded and decoded. */
export function fieldsOf({ headers }: MimeNode, name: string): string[] {
  if (!headers) return []
  return headers
    .getList()
    .filter(({ key }) => key === name.toLowerCase())
    .slice(0, MAX_FIELDS)
    .map(({ line }) => fieldText(line))
}

/** The text of a header line that has one character for each byte. */
export function fieldText(line: string): string {
  const field = textOf(Buffer.from(line.slice(0, MAX_LINE), 'latin1'), 'utf-8')
  const value = field.slice(field.indexOf(':') + 1, MAX_FIELD).replace(/\r?\n(?=[ \t])/g, '')
  const text = decodeWords(value)
    .replace(/[\r\n\0]/g, ' ')
    .trim()
  // PostgreSQL refuses lone surrogates.
  return text.toWellFormed()
}

export const attachmentOf = ({ node }: Part): Attachment => ({
  name: node.filename || '',
  type: node.contentType || 'application/octet-stream',
})

const SIGNATURES = ['application/pgp-signature', 'application/pkcs7-signature']

/** Texts, images that belong to a text, and signatures are not attachments. */
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

/** Returns whether the whole content is encrypted with S/MIME or OpenPGP. */
export function isEncrypted({ node }: Part): boolean {
  if (node.multipart === 'encrypted') return true
  if (!/^application\/(x-)?pkcs7-mime$/.test(node.contentType || '')) return false
  const type = node.headers ? node.headers.getFirst('content-type') : ''
  return !/smime-type\s*=\s*"?(signed|compressed)-data/i.test(type)
}

/** Signed or encrypted: a changed byte would make it invalid. */
export const isProtected = ({ node, within }: Part): boolean =>
  [...within, node].some(
    ({ multipart, contentType }) =>
      multipart === 'signed' ||
      multipart === 'encrypted' ||
      /^application\/(x-)?pkcs7-mime$/.test(contentType || ''),
  )

/** Returns whether the header consists of fields and ends with an empty line. */
export function isWellFormed(node: MimeNode): boolean {
  const lines = node.getHeaders().toString('latin1').split('\n')
  const [emptyLine, rest] = lines.splice(-2)
  const isField = (line: string, index: number) =>
    (index > 0 && /^[ \t]/.test(line)) || /^[!-9;-~]+[ \t]*:/.test(line)
  return (emptyLine === '' || emptyLine === '\r') && rest === '' && lines.every(isField)
}

/** The same for header lines: a line without a colon would be part of the body for some programs. */
export const hasOnlyFields = (headers: readonly HeaderLine[]): boolean =>
  headers.every(({ line }) => /^[!-9;-~]+[ \t]*:/.test(line))

/** Programs disagree about which of two content types counts. */
export const hasOneType = ({ headers }: MimeNode): boolean =>
  !headers || headers.get('content-type').length <= 1
