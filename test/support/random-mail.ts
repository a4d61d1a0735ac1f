/** Generates mail; one seed always gives one message. */
export function randomMail(seed: number) {
  const next = mulberry(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  const pick = <One>(from: readonly One[]): One => from[below(from.length)] as One
  const chance = (percent: number) => below(100) < percent
  const signed: Buffer[] = []
  let boundaries = 0

  const words = (count: number) =>
    Array.from({ length: count }, () =>
      pick(['ola', 'tree', '=3D', 'a = b', '.', 'From here', '--', 'x']),
    ).join(' ')
  const strange = (charset: string): Buffer =>
    charset === 'utf-8'
      ? Buffer.from(pick(['żółw', '日本語', '🙂', 'é']))
      : Buffer.from(Array.from({ length: 1 + below(4) }, () => 0xa1 + below(0x5d)))

  /** In normalized form, so that the result of a round trip can be compared. */
  const url = (mark: string) => {
    const query = chance(50) ? `?a=${below(9)}&b=2${chance(50) ? '&utm_source=mail' : ''}` : ''
    return `https://site${below(4)}.test/${mark}/${below(6)}${query}`
  }
  const link = () => {
    const text = `<b>${words(2)}</b>`
    switch (below(8)) {
      case 0:
        return `<a href="mailto:x@y.test">${text}</a>`
      case 1:
        return `<a href='tel:+31'>${text}</a>`
      case 2:
        return `<a href="#part">${text}</a>`
      case 3:
        return `<a href="https://kept.test/${below(9)}">${text}</a>`
      case 4:
        return `<a href=${url('plain').replaceAll('&', '&amp;')}>${text}</a>`
      case 5:
        return `<a class='x'\r\n HREF = '${url('single').replaceAll('&', '&amp;')}' title="a>b">${text}</a>`
      case 6:
        return `<!-- <a href="${url('comment')}"> --><style>a{} </body></style>`
      default:
        return `<a title="x" href="${url('double').replaceAll('&', '&amp;')}">${text}</a>`
    }
  }
  const page = (charset: string): Buffer => {
    const pieces: Buffer[] = []
    for (let lines = 1 + below(10); lines >= 0; lines--) {
      pieces.push(Buffer.from(pick([link(), link(), words(6), '<p>', '<img src="cid:a">'])))
      if (chance(40)) pieces.push(strange(charset))
      pieces.push(Buffer.from(pick(['\r\n', '\r\n\r\n', ' \r\n'])))
    }
    const body = Buffer.concat(pieces)
    const around = pick([
      ['', ''],
      ['<html><body>', '</body></html>'],
      ['<!doctype html>\r\n<HTML><BODY bgcolor=white>', '</BODY >\r\n</HTML>\r\n'],
      ['<html>', '</html>'],
      ['<body>', '</body><div>after</div>'],
    ])
    return Buffer.concat([Buffer.from(around[0] as string), body, Buffer.from(around[1] as string)])
  }

  function encoded(content: Buffer, encoding: string): Buffer {
    if (encoding === 'base64') {
      const lines = content.toString('base64').match(/.{1,76}/g) ?? []
      return Buffer.from(lines.join('\r\n') + (chance(50) ? '\r\n' : ''))
    }
    if (encoding !== 'quoted-printable') return content
    const units = [...content.toString('latin1').replaceAll('\r\n', '\n')].map((one) =>
      one === '\n' || (/[!-<>-~]/.test(one) && !chance(3))
        ? one
        : `=${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    const width = 20 + below(56)
    let line = ''
    let out = ''
    for (const unit of units) {
      if (unit === '\n') {
        out += `${line}\r\n`
        line = ''
        continue
      }
      if (line.length + unit.length > width) {
        out += `${line}=\r\n`
        line = ''
      }
      line += unit
    }
    return Buffer.from(out + line, 'latin1')
  }

  function leaf(): Buffer {
    const kind = below(10)
    if (kind < 6) return html()
    if (kind < 8) {
      const content = Buffer.from(`${words(5)}\r\nhttps://text.test/\r\n`)
      return part('text/plain; charset=us-ascii', '7bit', content)
    }
    if (kind === 8) {
      const bytes = Buffer.from(Array.from({ length: below(300) }, () => below(256)))
      return part('application/octet-stream; name="a.bin"', 'base64', bytes)
    }
    const inner = Buffer.concat([
      Buffer.from('Subject: inner\r\nContent-Type: text/html\r\n\r\n'),
      page('us-ascii'),
    ])
    return part('message/rfc822', '8bit', inner)
  }

  function html(): Buffer {
    const charset = pick(['utf-8', 'iso-8859-1', 'windows-1252', 'koi8-r', 'utf-16le', 'x-none'])
    const encoding = pick(['8bit', 'quoted-printable', 'base64', ''])
    const content = page(charset)
    const bytes =
      charset === 'utf-16le' ? Buffer.from(content.toString('latin1'), 'utf16le') : content
    const safe = charset === 'utf-16le' ? 'base64' : encoding
    const attached = chance(15) ? 'Content-Disposition: attachment; filename=page.html\r\n' : ''
    return part(`text/html;\r\n charset="${charset}"`, safe, bytes, attached)
  }

  const part = (type: string, encoding: string, content: Buffer, more = ''): Buffer =>
    Buffer.concat([
      Buffer.from(
        `Content-Type: ${type}\r\n${more}${encoding === '' ? '' : `Content-Transfer-Encoding: ${encoding}\r\n`}\r\n`,
      ),
      encoded(content, encoding),
    ])

  function tree(depth: number): Buffer {
    if (depth <= 0 || chance(40)) return leaf()
    const kind = pick(['mixed', 'mixed', 'alternative', 'related', 'signed', 'encrypted'])
    const boundary = `b${++boundaries}${pick(['', '=_x', "'()+_,-./:=?"])}`
    const pieces: Buffer[] = [Buffer.from(chance(30) ? 'preamble\r\n' : '')]
    for (let count = 1 + below(3); count > 0; count--) {
      pieces.push(Buffer.from(`--${boundary}\r\n`), tree(depth - 1), Buffer.from('\r\n'))
    }
    pieces.push(Buffer.from(`--${boundary}--\r\n${chance(30) ? 'epilogue\r\n' : ''}`))
    const whole = Buffer.concat([
      Buffer.from(`Content-Type: multipart/${kind};\r\n boundary="${boundary}"\r\n\r\n`),
      ...pieces,
    ])
    if (kind === 'signed' || kind === 'encrypted') signed.push(Buffer.concat(pieces))
    return whole
  }

  const head = `From: app@acme.test\r\nSubject: =?utf-8?q?x?=\r\n\tfolded\r\n${chance(80) ? 'Message-ID: <m1@acme.test>\r\n' : ''}${chance(20) ? 'List-Unsubscribe: <mailto:u@acme.test>\r\n' : ''}MIME-Version: 1.0\r\n`
  return { raw: Buffer.concat([Buffer.from(head), tree(4)]), signed }
}

/** A small pseudo-random number generator, sufficient for fuzzing. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
