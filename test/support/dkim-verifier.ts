import { createHash, createPublicKey, verify } from 'node:crypto'

export interface Signature {
  domain: string
  selector: string
  headers: string[]
  tags: Map<string, string>
}

/** RFC 6376 §3.5: the tags of the first signature of a message. */
export function signatureOf(message: string): Signature | undefined {
  const header = headersOf(message).find((one) => /^dkim-signature:/i.test(one))
  if (header === undefined) return undefined
  const tags = tagsOf(header.slice(header.indexOf(':') + 1))
  return {
    domain: tags.get('d') ?? '',
    selector: tags.get('s') ?? '',
    headers: (tags.get('h') ?? '')
      .toLowerCase()
      .split(':')
      .map((name) => name.trim()),
    tags,
  }
}

/** Verifies that signature with the TXT record of its selector. */
export function verifies(message: string, record: string): boolean {
  const signature = signatureOf(message)
  if (!signature) return false
  const { tags, headers } = signature
  if (tags.get('a') !== 'rsa-sha256' || tags.get('c') !== 'relaxed/relaxed') return false
  const body = message.slice(message.indexOf('\r\n\r\n') + 4)
  const bodyHash = createHash('sha256').update(relaxedBody(body)).digest('base64')
  if (bodyHash !== tags.get('bh')?.replace(/\s/g, '')) return false

  // A repeated header is signed from the last occurrence to the first.
  const left = headersOf(message)
  const signed = headers.flatMap((name) => {
    const at = left.findLastIndex((one) => one.toLowerCase().startsWith(`${name}:`))
    return at === -1 ? [] : left.splice(at, 1)
  })
  const own = headersOf(message).find((one) => /^dkim-signature:/i.test(one)) as string
  const unsigned = relaxedHeader(own).replace(/(\bb=)[^;]*/, '$1')
  const data = `${signed.map((one) => `${relaxedHeader(one)}\r\n`).join('')}${unsigned}`
  const key = createPublicKey({
    key: Buffer.from(tagsOf(record).get('p') ?? '', 'base64'),
    format: 'der',
    type: 'spki',
  })
  const value = Buffer.from((tags.get('b') ?? '').replace(/\s/g, ''), 'base64')
  return verify('sha256', Buffer.from(data, 'latin1'), key, value)
}

const headersOf = (message: string): string[] =>
  message
    .slice(0, message.indexOf('\r\n\r\n'))
    .split(/\r\n(?![ \t])/)
    .filter((line) => line !== '')

const tagsOf = (text: string): Map<string, string> =>
  new Map(
    text
      .split(';')
      .filter((part) => part.includes('='))
      .map((part) => {
        const at = part.indexOf('=')
        return [part.slice(0, at).trim(), part.slice(at + 1).trim()]
      }),
  )

/** RFC 6376 §3.4.2: relaxed header canonicalization. */
function relaxedHeader(header: string): string {
  const at = header.indexOf(':')
  const value = header
    .slice(at + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim()
  return `${header.slice(0, at).trim().toLowerCase()}:${value}`
}

/** RFC 6376 §3.4.4: relaxed body canonicalization. */
function relaxedBody(body: string): Buffer {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  return Buffer.from(lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`, 'latin1')
}
