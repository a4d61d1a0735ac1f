import { isUtf8 } from '../../mime/charset.ts'
import { type ByteEdit, replaced, splice, type TextEdit } from '../../mime/edits.ts'
import { base64Body, editableBody } from '../../mime/encoded-body.ts'
import { MimeMessage } from '../../mime/message.ts'
import { isWellFormed } from '../../mime/parts.ts'
import { nodeOf, type Part } from '../../mime/structure.ts'
import { type LinkRules, readHtml } from './html.ts'
import { addressesIn } from './plain-text.ts'
import { isShownHtml, isShownText } from './shown-parts.ts'

// RFC 5322 §2.1.1, without the line break.
const MAX_LINE = 998
const MAX_LINKS = 100_000
const MAX_VALUE = 20_000
const INLINE_PGP = /^-----BEGIN PGP (SIGNED )?MESSAGE-----/m

/** A link as the reader of the message would follow it. */
export interface FoundLink {
  /** The address as it is written, without the spaces around it. */
  address: string
  /** The address as browsers read it. */
  url: URL
  isForm: boolean
}

/** The URL that takes the place of a link; undefined if the link stays. */
export type Rewrite = (link: FoundLink) => string | undefined

export interface Rewritten<Result> {
  found: number
  rewritten: number
  result: Result
}

/**
 * Replaces the links of the texts that are shown, also in a message with a DKIM signature. Signed and
 * encrypted parts and calendars keep every byte. Undefined for a message that programs could read in
 * different ways: it must pass unchanged.
 */
export function rewriteMessage(
  message: MimeMessage,
  rewrite: Rewrite,
): Rewritten<MimeMessage> | undefined {
  const { parts, root, unread } = message.structure
  if (unread !== undefined || !isWellFormed(root.node)) return undefined
  const counted = counting(rewrite)
  const edits = parts.flatMap((part) => editOf(part, counted.rewrite) ?? [])
  const { found, rewritten } = counted
  const result = edits.length === 0 ? message : new MimeMessage(splice(message.raw, edits))
  return { found, rewritten, result }
}

/** The same for an HTML page that is not in a message yet. */
export function rewritePage(html: string, rewrite: Rewrite): Rewritten<string> {
  const counted = counting(rewrite)
  const text = Buffer.from(html, 'utf8').toString('latin1')
  const edits = editsOfHtml(text, 'utf-8', counted.rewrite)
  const result = Buffer.from(replaced(text, edits), 'latin1').toString('utf8')
  return { found: counted.found, rewritten: counted.rewritten, result }
}

function counting(rewrite: Rewrite) {
  const counts = {
    found: 0,
    rewritten: 0,
    rewrite(link: FoundLink): string | undefined {
      const url = rewrite(link)
      counts.found++
      if (url !== undefined) counts.rewritten++
      return url
    },
  }
  return counts
}

function editOf(part: Part, rewrite: Rewrite): ByteEdit | undefined {
  const isHtml = isShownHtml(part)
  if (!isHtml && !isShownText(part)) return undefined
  const body = editableBody(part)
  if (!body) return undefined
  const edits = isHtml
    ? editsOfHtml(body.text, part.node.charset, rewrite)
    : editsOfText(body.text, isUtf8(part.node.charset), rewrite)
  if (edits.length === 0) return undefined
  const isEncoded = /^(quoted-printable|base64)$/.test(part.node.encoding || '')
  if (isEncoded) return bodyEdit(part, body.write(edits))
  const text = replaced(body.text, edits)
  return hasLongLine(text) ? encodedPart(part, text) : bodyEdit(part, text)
}

const bodyEdit = ({ bodyStart, end }: Part, text: string): ByteEdit => ({
  start: bodyStart,
  end,
  bytes: Buffer.from(text, 'latin1'),
})

/** A link must not stay because its line would be too long, so the part is encoded. */
function encodedPart(part: Part, text: string): ByteEdit {
  const node = nodeOf(part.node.getHeaders())
  if (node.headers) node.headers.update('Content-Transfer-Encoding', 'base64')
  const body = Buffer.from(base64Body(text), 'latin1')
  return { start: part.start, end: part.end, bytes: Buffer.concat([node.getHeaders(), body]) }
}

function hasLongLine(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline
    if (end - at > MAX_LINE) return true
    at = end + 1
  }
  return false
}

function editsOfHtml(text: string, charset: string | false, rewrite: Rewrite): TextEdit[] {
  const decoder = new TextDecoder(knownCharset(charset), { ignoreBOM: true })
  const decode = (bytes: Buffer) => decoder.decode(bytes)
  const html = readHtml(text, clickableLinks(decode, baseOf(text, decode)))
  if (!html) return []
  return html.links
    .flatMap(({ start, end, isQuoted, tag, target }): TextEdit[] => {
      const isForm = tag === 'form' || tag === 'button' || tag === 'input'
      const url = rewrite({ ...target, isForm })
      if (url === undefined) return []
      const escaped = url.replaceAll('&', '&amp;').replaceAll('"', '%22')
      return [{ start, end, text: isQuoted ? escaped : `"${escaped}"` }]
    })
    .sort((one, other) => one.start - other.start)
}

function editsOfText(text: string, isUtf8Text: boolean, rewrite: Rewrite): TextEdit[] {
  if (/[\0\x1b]/.test(text) || INLINE_PGP.test(text)) return []
  return addressesIn(text, isUtf8Text).flatMap(({ start, end, address }): TextEdit[] => {
    const link = linkOf(address, undefined)
    const url = link && rewrite({ ...link, isForm: false })
    return url === undefined ? [] : [{ start, end, text: url }]
  })
}

/** Elements whose address is loaded without a click, or is no link. */
const LOADED = new Set(['link', 'base', 'image', 'use', 'feimage', 'script'])

type Decode = (bytes: Buffer) => string

/** The first `<base>` counts for links before it too, so it is looked for first. */
function baseOf(text: string, decode: Decode): URL | undefined {
  if (!/<base[\s/]/i.test(text)) return undefined
  const none = { maxLinks: 0, isLink: () => false, decode, read: () => undefined }
  const written = readHtml(text, none)?.base
  return written === undefined ? undefined : webUrl(written)
}

const clickableLinks = (decode: Decode, base: URL | undefined): LinkRules<WebAddress> => ({
  maxLinks: MAX_LINKS,
  isLink: (tag, attribute) =>
    attribute === 'href' || attribute === 'xlink:href'
      ? !LOADED.has(tag)
      : (attribute === 'action' && tag === 'form') || attribute === 'formaction',
  decode,
  read: (value) => (value.length > MAX_VALUE ? undefined : linkOf(withoutSpaces(value), base)),
  inComments: true,
})

/** Browsers ignore spaces and control characters around an address, and no others. */
function withoutSpaces(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && value.charCodeAt(start) <= 0x20) start++
  while (end > start && value.charCodeAt(end - 1) <= 0x20) end--
  return value.slice(start, end).toWellFormed()
}

const knownCharset = (charset: string | false): string => {
  const name = (charset || 'utf-8').trim().toLowerCase()
  try {
    return new TextDecoder(name).encoding
  } catch {
    return 'windows-1252'
  }
}

type WebAddress = Omit<FoundLink, 'isForm'>

/** Slashes that begin an address; browsers leave out tabs and line breaks between them. */
const WITHOUT_SCHEME = /^[/\\][\t\n\r]*[/\\]/

/** Relative addresses are links only in a page that names its base. */
function linkOf(written: string, base: URL | undefined): WebAddress | undefined {
  const isAlone = WITHOUT_SCHEME.test(written)
  // Most relative addresses are told apart here: a message may have very many.
  if (base === undefined && !isAlone && !written.includes(':')) return undefined
  const absolute = webUrl(written)
  if (absolute) return { address: written, url: absolute }
  if (written === '' || URL.canParse(written)) return undefined
  // Programs that show mail in a browser take the scheme of their own page.
  if (isAlone) {
    const url = webUrl(`https:${written}`)
    return url && { address: `https:${written}`, url }
  }
  const url = base && !written.startsWith('#') ? webUrl(written, base) : undefined
  return url && { address: url.href, url }
}

function webUrl(text: string, base?: URL): URL | undefined {
  if (!URL.canParse(text, base?.href)) return undefined
  const url = new URL(text, base)
  return (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== ''
    ? url
    : undefined
}
