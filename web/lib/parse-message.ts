interface Part {
  headers: Map<string, string>
  body: string
}

/** The input for the dry run of rules, from the source of a message. */
export function parseMessage(source: string) {
  const message = split(source)
  const header = (name: string) => decodeWords(message.headers.get(name) ?? '')
  return {
    from: header('from'),
    to: header('to'),
    cc: header('cc'),
    subject: header('subject'),
    body: plainText(message) ?? '',
  }
}

function split(source: string): Part {
  const text = source.replace(/\r\n?/g, '\n')
  const end = text.search(/\n\n/)
  const head = end < 0 ? text : text.slice(0, end)
  const headers = new Map<string, string>()
  for (const line of head.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return { headers, body: end < 0 ? '' : text.slice(end + 2) }
}

/** The first part that is plain text, decoded. */
function plainText({ headers, body }: Part): string | undefined {
  const type = headers.get('content-type') ?? 'text/plain'
  const boundary = /boundary="?([^";]+)/i.exec(type)?.[1]
  if (boundary) {
    for (const part of body.split(`--${boundary}`).slice(1)) {
      const text = plainText(split(part.replace(/^\s*\n/, '')))
      if (text !== undefined) return text
    }
    return undefined
  }
  if (!/^text\/plain/i.test(type)) return undefined
  const charset = /charset="?([^";]+)/i.exec(type)?.[1]
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase()
  if (encoding === 'base64') return fromBase64(body.replace(/\s/g, ''), charset) ?? body
  if (encoding !== 'quoted-printable') return body
  return fromQuoted(body.replace(/=\n/g, ''), charset) ?? body
}

/** =?utf-8?B?…?= and =?utf-8?Q?…?= of a header. */
const decodeWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?([^?]+)\?([bq])\?([^?]*)\?=/gi, (whole, charset, kind, coded) => {
      const decoded =
        kind.toLowerCase() === 'b'
          ? fromBase64(coded, charset)
          : fromQuoted(coded.replace(/_/g, ' '), charset)
      return decoded ?? whole
    })

const fromQuoted = (text: string, charset?: string) =>
  decode(
    text.replace(/=([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    charset,
  )

function fromBase64(text: string, charset?: string): string | undefined {
  try {
    return decode(atob(text), charset)
  } catch {
    return undefined
  }
}

/** undefined where the text has characters that are no bytes, or the character set is unknown. */
function decode(bytes: string, charset = 'utf-8'): string | undefined {
  const codes = Array.from(bytes, (char) => char.charCodeAt(0))
  if (codes.some((code) => code > 255)) return undefined
  try {
    return new TextDecoder(charset).decode(new Uint8Array(codes))
  } catch {
    return undefined
  }
}
