import type { MimeNode } from '@zone-eu/mailsplit'
import { holdsAscii, isUtf8, strictText } from './charset.ts'
import { splice } from './edits.ts'
import { decodedBody, encodedBody } from './encoded-body.ts'
import { type Position, placeInHtml, placeInText } from './insert.ts'
import { MimeMessage } from './message.ts'
import { fieldsOf, isAttachment, isProtected } from './parts.ts'
import { nodeOf, type Part } from './structure.ts'
import { encodeWords } from './words.ts'

interface SubjectChange {
  prefix?: string
  suffix?: string
  replace?: string
}

export interface Disclaimer {
  text: string
  html?: string
  position: Position
}

interface ChangedPart {
  node: MimeNode
  body: Buffer
}

/** Collects changes to a message. Parts without a change keep every byte. */
export class MessageDraft {
  readonly #message: MimeMessage
  readonly #changed = new Map<Part, ChangedPart>()

  constructor(message: MimeMessage) {
    this.#message = message
  }

  /** Adds a header field on top. Line breaks become spaces: they would begin another field. */
  addHeader(name: string, value: string): void {
    const { headers } = this.#changedRoot().node
    if (headers) headers.addFormatted(name, `${name}: ${encodeWords(oneLine(value))}`)
  }

  removeHeader(name: string): void {
    const { headers } = this.#changedRoot().node
    if (headers) headers.remove(name)
  }

  /** Replaces all Subject fields at the place of the first. Does not add a prefix or suffix twice. */
  changeSubject({ prefix = '', suffix = '', replace }: SubjectChange): void {
    const { node } = this.#changedRoot()
    if (!node.headers) return
    const before = fieldsOf(node, 'subject')[0] ?? ''
    let subject = replace ?? before
    if (!subject.startsWith(prefix)) subject = prefix + subject
    if (!subject.endsWith(suffix)) subject += suffix
    if (subject === before) return
    const index = node.headers.getList().findIndex(({ key }) => key === 'subject')
    node.headers.remove('subject')
    const line = `Subject: ${encodeWords(oneLine(subject))}`
    node.headers.addFormatted('Subject', line, Math.max(index, 0))
  }

  /**
   * Inserts a text into the first plain and the first HTML part. Signed and encrypted parts stay
   * unchanged. Returns why nothing was inserted, or undefined.
   */
  async addDisclaimer({ text, html, position }: Disclaimer): Promise<string | undefined> {
    const { parts, root, unread } = this.#message.structure
    if (unread !== undefined) return 'the message could not be taken apart'
    if (isProtected(root)) return 'the message is signed or encrypted'
    const texts = parts.filter((part) => !isAttachment(part) && !isProtected(part))
    const plainPart = texts.find(isType('text/plain'))
    const htmlPart = texts.find(isType('text/html'))
    if (!plainPart && !htmlPart) return 'the message has no text that may be changed'
    const failures: (string | undefined)[] = []
    if (plainPart) {
      const added = withCrlf(text)
      const place = (body: string) => placeInText(body, added, position)
      failures.push(await this.#insert(plainPart, added, place))
    }
    if (htmlPart) {
      const added = withCrlf(html ?? asHtml(text))
      const place = (body: string) => placeInHtml(body, added, position)
      failures.push(await this.#insert(htmlPart, added, place))
    }
    return failures.find((failure) => failure !== undefined)
  }

  /** The changed message; the original if nothing has changed. */
  write(): MimeMessage {
    const { isHeaderComplete } = this.#message.structure
    if (this.#changed.size === 0 || !isHeaderComplete) return this.#message
    const edits = [...this.#changed]
      .sort(([one], [other]) => one.start - other.start)
      .map(([part, { node, body }]) => ({
        start: part.start,
        end: part.node.multipart ? part.bodyStart : part.end,
        bytes: Buffer.concat([node.getHeaders(), body]),
      }))
    return new MimeMessage(splice(this.#message.raw, edits))
  }

  #changedRoot(): ChangedPart {
    const { root } = this.#message.structure
    const changed = this.#changed.get(root) ?? copyOf(root)
    this.#changed.set(root, changed)
    return changed
  }

  /** Changes a text in the charset of the part, or in UTF-8 if that lacks a character. */
  async #insert(
    part: Part,
    added: string,
    place: (body: string) => string,
  ): Promise<string | undefined> {
    const { node, body } = this.#changed.get(part) ?? copyOf(part)
    // Text after an unfinished header would become part of the header.
    if (!/(^|\n)\r?\n$/.test(node.getHeaders().toString('latin1'))) return 'a header does not end'
    const bytes = await decodedBody({ node, body })
    if (INLINE_PGP.test(bytes.toString('latin1'))) return 'the message is signed or encrypted'
    const isAscii = /^[\t\r\n\x20-\x7e]*$/.test(added)
    let changed: Buffer
    if (isAscii && holdsAscii(node.charset)) {
      // One character for each byte, so bytes that are invalid in the charset stay as they are.
      changed = Buffer.from(place(bytes.toString('latin1')), 'latin1')
    } else {
      const text = strictText(bytes, node.charset)
      if (text === undefined) return 'a part is not in the charset that it names'
      changed = Buffer.from(place(text))
      if (!isUtf8(node.charset)) node.setCharset('utf-8')
    }
    const encoded = await encodedBody(node, changed, encodingFor(node, changed))
    // Read the header again: a later change must see the new charset and encoding.
    this.#changed.set(part, { node: nodeOf(node.getHeaders()), body: encoded })
    return undefined
  }
}

const copyOf = ({ node, body }: Part): ChangedPart => ({ node: nodeOf(node.getHeaders()), body })

const INLINE_PGP = /^-----BEGIN PGP (SIGNED )?MESSAGE-----/m

const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ')
const withCrlf = (text: string): string => text.replace(/\r\n|\r|\n/g, '\r\n')

const isType = (type: string) => (part: Part) => (part.node.contentType || 'text/plain') === type

const asHtml = (text: string): string => {
  const escaped = text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)
  return `<p>${escaped.replace(/\r\n|\r|\n/g, '<br>\n')}</p>`
}

const MAX_LINE = 998

/** The encoding of the part, unless the new text does not fit into it. */
function encodingFor({ encoding }: MimeNode, bytes: Buffer): string {
  if (encoding === 'base64' || encoding === 'quoted-printable') return encoding
  const text = bytes.toString('latin1')
  const is7bit = !/[^\x00-\x7f]/.test(text)
  const isShort = text.split('\r\n').every((line) => line.length <= MAX_LINE)
  if (isShort && (is7bit || encoding === '8bit')) return encoding || ''
  return encoding === 'binary' ? 'binary' : 'quoted-printable'
}
