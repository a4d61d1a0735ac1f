import { isLeaf, partsOf } from './mail-parts.ts'
import type { SeededRandom } from './seeded-random.ts'

/** A way of writing links into a message, each in a line of its own. */
export interface LinkCarrier {
  name: string
  charset: string
  isForm: boolean
  /** Plain text ends an address at spaces, quotes and angle brackets. */
  isText: boolean
  line(address: string): string
  /** The address in a line as a reader would follow it, still with entities. */
  linkIn(line: string): string | undefined
  /** The message with these lines. */
  message(lines: readonly string[]): Buffer
}

const SINGLE_BYTE = 'windows-1252'

const entities = (text: string, special: RegExp) =>
  text.toWellFormed().replace(special, (letter) => `&#${letter.codePointAt(0)};`)

/** Quoted values may have everything but their quote and references. */
const quoted = (address: string) => entities(address, /[&"'\r\n\0]/g)
const unquoted = (address: string) => entities(address || '#', /[ \t\n\f\r&"'=<>`\0]/g)

/** Browsers read ISO 8859-1 as Windows-1252; other letters are references. */
const inCharset = (text: string, charset: string) =>
  charset === 'utf-8'
    ? Buffer.from(text)
    : Buffer.from(entities(text, /[^\x00-\x7f\u00a0-\u00ff]/gu), 'latin1')

function encoded(bytes: Buffer, encoding: string): string {
  if (encoding === 'base64') {
    return bytes.toString('base64').replace(/.{1,76}/g, '$&\r\n')
  }
  if (encoding === '8bit') return bytes.toString('latin1')
  return bytes
    .toString('latin1')
    .split('\r\n')
    .map((line) =>
      line
        .replace(/[^\x21-\x3c\x3e-\x7e]/g, (byte) => {
          const hex = byte.charCodeAt(0).toString(16).toUpperCase()
          return `=${hex.padStart(2, '0')}`
        })
        .replace(/(?:=..|[^=]){70}(?=.)/g, '$&=\r\n'),
    )
    .join('\r\n')
}

function carrier(
  shape: Pick<LinkCarrier, 'isForm' | 'isText' | 'linkIn'> & { write(address: string): string },
  type: string,
  charset: string,
  encoding: string,
): LinkCarrier {
  const head = `From: ada@far.test\r\nMIME-Version: 1.0\r\nContent-Type: ${type}; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
  const { write, ...rest } = shape
  return {
    ...rest,
    charset,
    name: `${write('A')} in ${charset}, ${encoding}`,
    line: (address) => inCharset(write(address), charset).toString('latin1'),
    message: (lines) =>
      Buffer.from(head + encoded(Buffer.from(lines.join('\r\n'), 'latin1'), encoding), 'latin1'),
  }
}

const html = (before: string, write: (address: string) => string, isForm: boolean) => ({
  isForm,
  isText: false,
  write: (address: string) => `${before}${write(address)}>`,
  linkIn: (line: string) =>
    line.startsWith(before) && line.endsWith('>')
      ? line.slice(before.length, -1).replace(/^(["'])(.*)\1$/, '$2')
      : undefined,
})
const text = {
  isForm: false,
  isText: true,
  write: (address: string) => `(see <${address}>)`,
  linkIn: (line: string) => /^\(see <(.*)>\)$/.exec(line)?.[1],
}

const ANCHOR = html('<a href=', (address) => `"${quoted(address)}"`, false)
const SINGLE = html("<area alt='' href = ", (address) => `'${quoted(address)}'`, false)
const UNQUOTED = html('<a class=x href=', unquoted, false)
const FORM = html('<form action=', (address) => `"${quoted(address)}"`, true)
const BUTTON = html('<button formaction=', unquoted, true)

export const linkCarriers: readonly LinkCarrier[] = [
  carrier(ANCHOR, 'text/html', 'utf-8', '8bit'),
  carrier(ANCHOR, 'text/html', SINGLE_BYTE, 'quoted-printable'),
  carrier(SINGLE, 'text/html', 'iso-8859-1', 'base64'),
  carrier(UNQUOTED, 'text/html', 'utf-8', 'quoted-printable'),
  carrier(UNQUOTED, 'text/html', SINGLE_BYTE, '8bit'),
  carrier(FORM, 'text/html', 'utf-8', 'base64'),
  carrier(BUTTON, 'text/html', 'iso-8859-1', 'quoted-printable'),
  carrier(text, 'text/plain', 'utf-8', '8bit'),
  carrier(text, 'text/plain', 'utf-8', 'quoted-printable'),
  carrier(text, 'text/plain', 'us-ascii', 'base64'),
]

/**
 * An address that plain text can carry: all of it is the link, if it is one. It ends with a letter, which
 * is no end of a sentence.
 */
export function textAddress(address: string, { pick }: SeededRandom, charset: string): string {
  const letters =
    charset === 'utf-8' ? /[\x00-\x20"<>\x7f]|[^\x00-\x7füßя]/g : /[^\x21-\x7e]|["<>]/g
  const written = `${address.replace(letters, '')}${pick(['z', '/0', '_a'])}`
  const isInside = /https?:\/\//i.test(written) && !/^https?:\/\//i.test(written)
  return isInside ? `https://${written}` : written
}

/** The lines of the only part of a message, decoded with another parser than the tested one. */
export async function linesOf(message: Buffer): Promise<string[]> {
  const [part] = (await partsOf(message)).filter(isLeaf)
  return part?.decoded.toString('latin1').trimEnd().split(/\r?\n/) ?? []
}
