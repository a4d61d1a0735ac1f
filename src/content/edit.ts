import { encodeWords } from '../lib/encoded-words.ts'
import { holdsAscii, isUtf8, strictText } from './charset.ts'
import { decodedBody, setBody } from './encoding.ts'
import { type Place, placeInHtml, placeInText } from './insert.ts'
import { fieldsOf, isAttachment, isProtected } from './message.ts'
import type { Part, Split } from './split.ts'

/** One more header field, on top. Line breaks in it would be other fields: there are none. */
export function addHeader({ root }: Split, name: string, value: string): void {
  const clean = value.replace(/[\r\n]+/g, ' ')
  if (root.node.headers) root.node.headers.addFormatted(name, `${name}: ${encodeWords(clean)}`)
}

export function removeHeader({ root }: Split, name: string): void {
  if (root.node.headers) root.node.headers.remove(name)
}

export interface SubjectChange {
  prefix?: string
  suffix?: string
  replace?: string
}

/** Where the first Subject was. A prefix or suffix that is there already is not added again. */
export function changeSubject(
  { root }: Split,
  { prefix = '', suffix = '', replace }: SubjectChange,
) {
  const { headers } = root.node
  if (!headers) return
  const before = fieldsOf(root.node, 'subject')[0] ?? ''
  let subject = replace ?? before
  if (!subject.startsWith(prefix)) subject = prefix + subject
  if (!subject.endsWith(suffix)) subject += suffix
  if (subject === before) return
  const index = headers.getList().findIndex(({ key }) => key === 'subject')
  headers.remove('subject')
  const line = `Subject: ${encodeWords(subject.replace(/[\r\n]+/g, ' '))}`
  headers.addFormatted('Subject', line, Math.max(index, 0))
}

export interface Disclaimer {
  text: string
  html?: string
  position: Place
}

/**
 * Puts a text into the first plain and the first HTML part. Signed and encrypted messages stay as
 * they are. Answers why nothing was added, or undefined when it was.
 */
export async function addDisclaimer(
  message: Split,
  wanted: Disclaimer,
): Promise<string | undefined> {
  if (message.unread !== undefined) return 'the message could not be taken apart'
  if (isProtected(message.root)) return 'the message is signed or encrypted'
  const texts = message.parts.filter((part) => !isAttachment(part) && !isProtected(part))
  const plain = texts.find(isType('text/plain'))
  const html = texts.find(isType('text/html'))
  if (!plain && !html) return 'the message has no text that may be changed'
  const notes: (string | undefined)[] = []
  if (plain) {
    const text = wanted.text.replace(/\r\n|\r|\n/g, '\r\n')
    notes.push(await insert(plain, text, (body) => placeInText(body, text, wanted.position)))
  }
  if (html) {
    const text = (wanted.html ?? asHtml(wanted.text)).replace(/\r\n|\r|\n/g, '\r\n')
    notes.push(await insert(html, text, (body) => placeInHtml(body, text, wanted.position)))
  }
  return notes.find((note) => note !== undefined)
}

const isType = (type: string) => (part: Part) => (part.node.contentType || 'text/plain') === type

const asHtml = (text: string): string => {
  const escaped = text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)
  return `<p>${escaped.replace(/\r\n|\r|\n/g, '<br>\n')}</p>`
}

const INLINE_PGP = /^-----BEGIN PGP (SIGNED )?MESSAGE-----/m

/** Changes the text of a part, in its own charset where that has the characters, else in UTF-8. */
async function insert(
  part: Part,
  added: string,
  place: (body: string) => string,
): Promise<string | undefined> {
  const { node } = part
  // What is put behind an open header would be header.
  if (!/(^|\n)\r?\n$/.test(node.getHeaders().toString('latin1'))) return 'a header does not end'
  const bytes = await decodedBody(part)
  if (INLINE_PGP.test(bytes.toString('latin1'))) return 'the message is signed or encrypted'
  const isAscii = /^[\t\r\n\x20-\x7e]*$/.test(added)
  let changed: Buffer
  if (isAscii && holdsAscii(node.charset)) {
    // One character for each byte: whatever they mean, they stay as they are.
    changed = Buffer.from(place(bytes.toString('latin1')), 'latin1')
  } else {
    const text = strictText(bytes, node.charset)
    if (text === undefined) return 'a part is not in the charset that it names'
    changed = Buffer.from(place(text))
    if (!isUtf8(node.charset)) node.setCharset('utf-8')
  }
  await setBody(part, changed, encodingFor(part, changed))
  return undefined
}

const MAX_LINE = 998

/** The encoding the part has, unless the new text does not fit into it. */
function encodingFor({ node: { encoding } }: Part, bytes: Buffer): string {
  if (encoding === 'base64' || encoding === 'quoted-printable') return encoding
  const text = bytes.toString('latin1')
  const is7bit = !/[^\x00-\x7f]/.test(text)
  const isShort = text.split('\r\n').every((line) => line.length <= MAX_LINE)
  if (isShort && (is7bit || encoding === '8bit')) return encoding || ''
  return encoding === 'binary' ? 'binary' : 'quoted-printable'
}
