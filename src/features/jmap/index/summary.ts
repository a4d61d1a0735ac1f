import { keywordsOf } from '../imap/keywords.ts'
import { listOf, pairsOf, readTokens, type Token, textOfToken } from '../imap/tokens.ts'
import { hasAttachment } from '../mime/body-lists.ts'
import { type Address, type Head, headOf } from '../mime/header-forms.ts'
import { fieldsOf, nameOf, type PartFacts, typeOf } from '../mime/part-tree.ts'
import { emailIdOf, messageHashOf } from './ids.ts'

/** The indexed fields of a message. */
export interface Summary {
  uid: number
  id: string
  keywords: string[]
  receivedAt: string
  sentAt: string | null
  size: number
  head: Head
  subject: string
  fromText: string
  toText: string
  ccText: string
  bccText: string
  fromSort: string
  toSort: string
  subjectSort: string
  preview: string
  hasAttachment: boolean
  /** Of the ids of the message and of those that it answers. */
  messageHashes: string[]
}

const MAX_TEXT = 8192
const MAX_SORT = 200
const MAX_PREVIEW = 256
const MAX_MESSAGE_IDS = 100
const HEADER_FIELDS =
  'Message-ID In-Reply-To References Sender From To Cc Bcc Reply-To Subject Date'

/** A header longer than 64 KB is cut off, so that the answer stays small. */
const HEADER_ITEM = `BODY.PEEK[HEADER.FIELDS (${HEADER_FIELDS})]<0.65536>`
export const SUMMARY_ITEMS = `UID FLAGS INTERNALDATE RFC822.SIZE X-GUID PREVIEW ${HEADER_ITEM}`

interface Fetched {
  text: string
  literals: readonly Uint8Array[]
}

/** Reads one FETCH response; undefined for any other response. */
export function readSummary({ text, literals }: Fetched): Summary | undefined {
  const [, , kind, values] = readTokens(text, literals)
  if (textOfToken(kind).toUpperCase() !== 'FETCH') return undefined
  const items = pairsOf(listOf(values))
  const guid = textOfToken(items.get('X-GUID'))
  const uid = Number(textOfToken(items.get('UID')))
  if (guid === '' || !(uid > 0)) return undefined
  const structure = items.get('BODYSTRUCTURE')
  const flags = listOf(items.get('FLAGS')).map(textOfToken)
  const head = headOf(fieldsOf(headerBytes(items)))
  return {
    uid,
    id: emailIdOf(guid),
    keywords: keywordsOf(flags),
    receivedAt: isoDate(textOfToken(items.get('INTERNALDATE'))) ?? new Date(0).toISOString(),
    sentAt: head.sentAt && (isoDate(head.sentAt) ?? null),
    size: Number(textOfToken(items.get('RFC822.SIZE'))) || 0,
    ...searchable(head),
    preview: previewOf(items.get('PREVIEW')),
    // Without a structure it was too large to read, so there is much more than a text.
    hasAttachment: structure === undefined || hasAttachment(factsOf(listOf(structure))),
  }
}

function headerBytes(items: ReadonlyMap<string, Token>): Buffer {
  for (const [name, value] of items) {
    if (!name.startsWith('BODY[HEADER')) continue
    return Buffer.isBuffer(value) ? value : Buffer.from(textOfToken(value), 'latin1')
  }
  return Buffer.alloc(0)
}

function isoDate(text: string): string | undefined {
  const date = new Date(text)
  const isStorable = date.getTime() > -6e13 && date.getTime() < 2e14
  return isStorable ? date.toISOString() : undefined
}

function searchable(head: Head) {
  const subject = (head.subject ?? '').slice(0, MAX_TEXT).toWellFormed()
  const ids = [head.messageId, head.inReplyTo, head.references].flatMap((some) => some ?? [])
  return {
    head,
    subject,
    fromText: addressText(head.from),
    toText: addressText(head.to),
    ccText: addressText(head.cc),
    bccText: addressText(head.bcc),
    fromSort: addressSort(head.from),
    toSort: addressSort(head.to),
    subjectSort: sortText(baseSubject(subject)),
    messageHashes: [...new Set(ids.slice(0, MAX_MESSAGE_IDS).map(messageHashOf))],
  }
}

const addressText = (list: Address[] | null): string =>
  (list ?? [])
    .map(({ name, email }) => `${name ?? ''} ${email}`.trim())
    .join('\n')
    .slice(0, MAX_TEXT)
    .toWellFormed()

const addressSort = (list: Address[] | null): string =>
  sortText(list?.[0]?.name || list?.[0]?.email || '')

const sortText = (text: string) => text.toLowerCase().slice(0, MAX_SORT).toWellFormed()

/** RFC 5256 section 2.1, for the prefixes that programs write. */
function baseSubject(subject: string): string {
  let rest = subject.trim()
  for (;;) {
    const shorter = rest.replace(/^(?:(?:re|fwd?|aw|wg)(?:\[\d+\])?:|\[[^\]]*\])\s*/i, '')
    if (shorter === rest || shorter === '') return rest
    rest = shorter
  }
}

function previewOf(token: Token | undefined): string {
  const text = textOfToken(Array.isArray(token) ? token.at(-1) : token)
  const decoded = typeof token === 'string' ? Buffer.from(text, 'latin1').toString('utf8') : text
  return decoded
    .replace(/[\s\0]+/g, ' ')
    .trim()
    .slice(0, MAX_PREVIEW)
    .toWellFormed()
}

/** BODYSTRUCTURE of RFC 3501 section 7.4.2. */
function factsOf(body: readonly Token[]): PartFacts {
  const parts = body.filter((_, index) => isPart(body, index))
  if (parts.length > 0) {
    const subtype = textOfToken(body[parts.length]).toLowerCase()
    const subParts = parts.map((part) => factsOf(listOf(part)))
    return { type: `multipart/${subtype}`, disposition: null, name: null, cid: null, subParts }
  }
  const type = typeOf(`${textOfToken(body[0])}/${textOfToken(body[1])}`)
  const parameters = pairsOf(listOf(body[2]))
  const [kind, values] = listOf(body[dispositionAt(type)])
  const filename = pairsOf(listOf(values)).get('FILENAME') ?? parameters.get('NAME')
  return {
    type,
    disposition: textOfToken(kind).toLowerCase() || null,
    name: nameOf(textOfToken(filename)),
    cid: textOfToken(body[3]) || null,
    subParts: null,
  }
}

/** The lists at the beginning are parts; those after the subtype are parameters. */
const isPart = (body: readonly Token[], index: number): boolean =>
  body.slice(0, index + 1).every((value) => Array.isArray(value))

function dispositionAt(type: string): number {
  if (type === 'message/rfc822') return 11
  return type.startsWith('text/') ? 9 : 8
}
