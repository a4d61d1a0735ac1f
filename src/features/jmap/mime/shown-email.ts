import { bodyLists, hasAttachment } from './body-lists.ts'
import {
  CONVENIENT,
  type ConvenientName,
  type HeaderProperty,
  headerProperty,
  headerValue,
} from './header-forms.ts'
import { leavesOf, type MailPart, readTree, textOfPart } from './part-tree.ts'
import type { Room } from './room.ts'

/** The validated request of a client. */
export interface Wanted {
  properties: string[]
  bodyProperties: string[]
  fetchTextBodyValues: boolean
  fetchHTMLBodyValues: boolean
  fetchAllBodyValues: boolean
  /** 0: no limit. */
  maxBodyValueBytes: number
}

const PREVIEW_LENGTH = 256

/** Properties that need the header of a message, and those that need all of it. */
export const needsHeader = (property: string) =>
  property === 'headers' || property.startsWith('header:')
const FROM_BODY = ['bodyStructure', 'bodyValues', 'textBody', 'htmlBody', 'attachments']
export const needsBody = (property: string) => FROM_BODY.includes(property)

interface Showing {
  /** Begins the ids of the parts of the message. */
  blobId: string
  room: Room
}

/** Reads properties from the bytes of a message. */
export async function shownEmail(raw: Buffer, wanted: Wanted, showing: Showing) {
  const { room } = showing
  const root = await readTree(raw)
  const lists = bodyLists(root)
  const shown: Record<string, unknown> = {}
  const partOf = (part: MailPart) => shownPart(part, wanted.bodyProperties, showing)
  for (const property of wanted.properties) {
    switch (property) {
      case 'bodyStructure':
        shown[property] = partOf(root)
        break
      case 'textBody':
      case 'htmlBody':
      case 'attachments':
        shown[property] = lists[property].map(partOf)
        break
      case 'bodyValues':
        shown[property] = await bodyValues(root, lists, wanted, room)
        break
      case 'hasAttachment':
        shown[property] = hasAttachment(root)
        break
      case 'preview':
        shown[property] = await previewOf(lists)
        break
      case 'size':
        shown[property] = raw.length
        break
      default: {
        const value = headerOf(root, property)
        if (value !== undefined) shown[property] = room.take(value)
      }
    }
  }
  return shown
}

function headerOf({ fields }: MailPart, property: string): unknown {
  if (property === 'headers') return fields
  const convenient: Omit<HeaderProperty, 'all'> | undefined = Object.hasOwn(CONVENIENT, property)
    ? CONVENIENT[property as ConvenientName]
    : undefined
  const asked = convenient ? { ...convenient, all: false } : namedHeader(property)
  return asked && headerValue(fields, asked)
}

const namedHeader = (property: string) =>
  property.startsWith('header:') ? headerProperty(property) : undefined

function shownPart(part: MailPart, properties: readonly string[], showing: Showing): object {
  const shown: Record<string, unknown> = {}
  for (const property of properties) {
    if (property === 'subParts') {
      if (part.subParts) {
        shown[property] = part.subParts.map((one) => shownPart(one, properties, showing))
      }
    } else shown[property] = showing.room.take(partProperty(part, property, showing))
  }
  return shown
}

function partProperty(part: MailPart, property: string, { blobId }: Showing): unknown {
  if (property === 'blobId') return part.partId && partBlobId(blobId, part.partId)
  if (property === 'headers') return part.fields
  if (!property.startsWith('header:')) return part[property as keyof MailPart] ?? null
  const asked = headerProperty(property)
  return asked ? headerValue(part.fields, asked) : null
}

/** Ids of JMAP have no dots. */
export const partBlobId = (blobId: string, partId: string) =>
  `${blobId}-${partId.replaceAll('.', '-')}`

async function bodyValues(
  root: MailPart,
  lists: ReturnType<typeof bodyLists>,
  wanted: Wanted,
  room: Room,
) {
  const parts = new Set<MailPart>()
  const add = (some: readonly MailPart[]) => {
    for (const part of some) if (part.type.startsWith('text/')) parts.add(part)
  }
  if (wanted.fetchAllBodyValues) add(leavesOf(root))
  if (wanted.fetchTextBodyValues) add(lists.textBody as MailPart[])
  if (wanted.fetchHTMLBodyValues) add(lists.htmlBody as MailPart[])
  const values: Record<string, object> = {}
  for (const part of parts) {
    const { value, isEncodingProblem } = await textOfPart(part)
    const shortened = truncated(value, wanted.maxBodyValueBytes, part.type === 'text/html')
    values[part.partId ?? ''] = room.take({
      value: shortened ?? value,
      isEncodingProblem,
      isTruncated: shortened !== undefined,
    })
  }
  return values
}

/** Cuts between characters and outside of tags; undefined when the text is short enough. */
function truncated(value: string, maxBytes: number, isHtml: boolean): string | undefined {
  if (maxBytes === 0 || Buffer.byteLength(value) <= maxBytes) return undefined
  let end = maxBytes
  const bytes = Buffer.from(value)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  const text = bytes.toString('utf8', 0, end)
  const openTag = isHtml && text.lastIndexOf('<') > text.lastIndexOf('>')
  return openTag ? text.slice(0, text.lastIndexOf('<')) : text
}

async function previewOf({ textBody, htmlBody }: ReturnType<typeof bodyLists>): Promise<string> {
  const part = (textBody[0] ?? htmlBody[0]) as MailPart | undefined
  if (!part?.type.startsWith('text/')) return ''
  const { value } = await textOfPart(part)
  return previewText(value, part.type === 'text/html')
}

function previewText(value: string, isHtml: boolean): string {
  const start = value.slice(0, 20 * 1024)
  const text = isHtml ? start.replace(/<style[^>]*>[^<]*<\/style>|<[^>]*>/gi, ' ') : start
  return text.replace(/\s+/g, ' ').trim().slice(0, PREVIEW_LENGTH).toWellFormed()
}
