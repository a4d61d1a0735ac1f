const KB = 1024

export interface HostileMessage {
  name: string
  direction: 'inbound' | 'outbound'
  recipients: number
  text: string
  /** First digits that the reply may have; a message that takes too long may always be deferred. */
  reply: '2' | '5' | '25'
}

// More than 1 MB is kept in shared memory.
const SIZES = [32 * KB, 128 * KB, 1100 * KB]

const repeat = (line: string, bytes: number) => line.repeat(Math.ceil(bytes / line.length))
const head = (...fields: string[]) =>
  ['From: app@acme.test', 'Message-ID: <m@acme.test>', ...fields, '', ''].join('\r\n')
const html = (encoding: string) =>
  head('Content-Type: text/html', `Content-Transfer-Encoding: ${encoding}`)
const multipart = head('Content-Type: multipart/mixed; boundary=x')
const link = '<a href=3D"https://shop.test/?utm_x=3D1">x</a>=\r\n'

/** Bodies of any size that are expensive to parse, to match, to search, to change or to store. */
const BODIES: Record<string, (bytes: number) => string> = {
  'quoted-printable': (bytes) =>
    html('quoted-printable') + repeat('<p>caf=C3=A9 and so on=20=\r\n', bytes),
  'quoted-printable in one line': (bytes) => html('quoted-printable') + repeat('=3Cp>', bytes),
  'broken quoted-printable': (bytes) => html('quoted-printable') + repeat('=\r\n=Z=', bytes),
  links: (bytes) => html('quoted-printable') + repeat(link, bytes),
  base64: (bytes) => html('base64') + repeat(`${'PGI+'.repeat(19)}\r\n`, bytes),
  'broken base64': (bytes) => html('base64') + repeat('=A\r\n', bytes),
  'plain text': (bytes) => head() + repeat(`${'0123456789'.repeat(7)}\r\n`, bytes),
  'text in one line': (bytes) => head() + repeat('0123456789', bytes),
  // smtp-server takes a turn of the loop for each of these lines, so that many take long.
  'lines of one dot': (bytes) => head() + repeat('.\r\n', Math.min(bytes, 30 * KB)),
  'empty lines': (bytes) => head() + repeat('\r\n', bytes),
  'line feeds': (bytes) => head() + repeat('\n', bytes),
  'carriage returns': (bytes) => head() + repeat('\r', bytes),
  'zero bytes': (bytes) => head() + repeat('\0', bytes),
  'many parts': (bytes) => multipart + repeat('--x\r\n\r\n', bytes),
  'boundaries inside of lines': (bytes) => multipart + repeat('--x--x', bytes),
  'attached messages': (bytes) => repeat('Content-Type: message/rfc822\r\n\r\n', bytes),
  digits: (bytes) => head() + repeat('4111 1111 1111 1112 ', bytes),
  'letters of a counted repetition': (bytes) => head() + repeat('abbab', bytes),
  spaces: (bytes) => html('quoted-printable') + repeat(' ', bytes),
  tags: (bytes) => html('8bit') + repeat('<p><b>', bytes),
  'open tags': (bytes) => html('8bit') + repeat('<', bytes),
  'open comments': (bytes) => html('8bit') + repeat('<!--', bytes),
  attributes: (bytes) => html('8bit') + repeat('<a href="', bytes),
  entities: (bytes) => html('8bit') + repeat('&amp;&#x26;&', bytes),
  'style sheets': (bytes) => html('8bit') + repeat('<style>a{}</style>', bytes),
  'quoted text': (bytes) => head() + repeat('> > text\r\n', bytes),
  'letters of two bytes': (bytes) =>
    head('Content-Type: text/plain; charset=utf-16le') + repeat('a\0', bytes),
  'held text': (bytes) => head('Subject: hold this') + repeat('held text\r\n', bytes),
}

/** Headers within the limits of the content filter. */
const HEADERS: Record<string, string> = {
  'one long line': `Subject: ${repeat('=?utf-8?q?a?= ', 250_000)}\r\n\r\nx`,
  'many fields': `${repeat('Subject: a\r\n', 58_000)}\r\nx`,
  'folded lines': `Subject: a\r\n${repeat(' a\r\n', 19_000)}\r\nx`,
  'many senders': `From: ${repeat('a@b.test, ', 200_000)}\r\n\r\nx`,
  'open quotes': `From: ${repeat('"a@b.test', 200_000)}\r\n\r\nx`,
  'nested comments': `From: ${repeat('(', 200_000)}a@b.test\r\n\r\nx`,
  'at signs': `From: ${repeat('a@', 200_000)}\r\n\r\nx`,
  'many From fields': `${repeat('From: a@b.test\r\n', 70_000)}\r\nx`,
  'a long file name': head(
    `Content-Disposition: attachment; filename=${repeat('=?utf-8?q?a?=', 200_000)}`,
  ),
  'many parameters': head(`Content-Type: text/plain; ${repeat('a*0=b; ', 200_000)}`),
  'many origins': `${repeat('X-Mailplane-Origin: x y\r\n', 100_000)}\r\nx`,
  'many hops': `${repeat('Received: from a by b; now\r\n', 130_000)}\r\nx`,
  'spam headers': `${repeat('X-Spam-Status: No, score=-100\r\n', 140_000)}\r\nx`,
}

const SINGLE: Omit<HostileMessage, 'direction'>[] = [
  {
    name: '20 MB of text',
    recipients: 1,
    reply: '2',
    text: head() + repeat(`${'0123456789'.repeat(9)}\r\n`, 20e6),
  },
  { name: '4 MB of short lines', recipients: 1, reply: '2', text: head() + repeat('a\r\n', 4e6) },
  {
    name: '3 MB held for several recipients',
    recipients: 3,
    reply: '2',
    text: head('Subject: hold this') + repeat('held text\r\n', 3e6),
  },
  {
    name: 'links for many recipients',
    recipients: 10,
    reply: '2',
    text: html('quoted-printable') + repeat(link, link.length * 4900),
  },
  { name: 'many recipients', recipients: 500, reply: '2', text: `${head()}text` },
  {
    name: 'nested parts',
    recipients: 1,
    reply: '2',
    text:
      Array.from({ length: 60 }, (_, depth) => {
        const boundary = `b${depth}`
        return `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n--${boundary}\r\n`
      }).join('') + repeat('--b1\r\n', 1e6),
  },
  { name: 'too many header lines', recipients: 1, reply: '5', text: repeat('a:\r\n', 2e6) },
  {
    name: 'a header line that is too long',
    recipients: 1,
    reply: '5',
    text: `Subject: ${repeat('=?utf-8?q?a?= ', 2e6)}\r\n\r\n`,
  },
]

/** Messages that are expensive to handle. */
export const hostileMessages = (direction: HostileMessage['direction']): HostileMessage[] => [
  ...Object.entries(BODIES).flatMap(([name, write]) =>
    SIZES.map((bytes) => ({
      name: `${name}, ${bytes / KB} KB`,
      direction,
      recipients: 1,
      text: write(bytes),
      // Without an empty line the whole message is a header.
      reply: '25' as const,
    })),
  ),
  ...Object.entries(HEADERS).map(([name, text]) => ({
    name: `header: ${name}`,
    direction,
    recipients: 1,
    text,
    reply: '25' as const,
  })),
  ...SINGLE.map((one) => ({ ...one, direction })),
]
