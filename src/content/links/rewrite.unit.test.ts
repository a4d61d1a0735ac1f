import { describe, expect, it } from 'vitest'
import { isLeaf, partsOf } from '../../../test/support/mail-parts.ts'
import { randomMail } from '../../../test/support/random-mail.ts'
import { MimeMessage } from '../../mime/message.ts'
import { type FoundLink, rewriteMessage, rewritePage } from './rewrite.ts'

const seen: FoundLink[] = []
const rewrite = (link: FoundLink) => {
  seen.push(link)
  return link.url.hostname === 'kept.test' ? undefined : 'https://safe.test/s?a=1&b=2'
}
const pageOf = (html: string) => rewritePage(html, rewrite).result
const SAFE = 'https://safe.test/s?a=1&amp;b=2'

const message = (body: string, head = 'Content-Type: text/plain; charset=utf-8') =>
  new MimeMessage(Buffer.from(`From: a@far.test\r\n${head}\r\n\r\n${body}`, 'latin1'))
const rewritten = (one: MimeMessage) => {
  const done = rewriteMessage(one, rewrite)
  if (!done) throw new Error('the message must pass unchanged')
  return done.result.raw.toString('latin1')
}
const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)

describe('an HTML page', () => {
  it.each([
    ['<a href="https://x.test/">', `<a href="${SAFE}">`, 'https://x.test/'],
    ["<A HREF = 'HTTP://x.test/a?b=1&amp;c'>", `<A HREF = '${SAFE}'>`, 'HTTP://x.test/a?b=1&c'],
    ['<area href=https://x.test/ alt>', `<area href="${SAFE}" alt>`, 'https://x.test/'],
    ['<form action="https://x.test/f">', `<form action="${SAFE}">`, 'https://x.test/f'],
    ['<button formaction="https://x.test/f">', `<button formaction="${SAFE}">`, 'https://x.test/f'],
    ['<svg><a xlink:href="https://x.test/">', `<svg><a xlink:href="${SAFE}">`, 'https://x.test/'],
    ['<v:rect href="https://x.test/">', `<v:rect href="${SAFE}">`, 'https://x.test/'],
    ['<a href="https://u:p@x.test/">', `<a href="${SAFE}">`, 'https://u:p@x.test/'],
    ['<a href="https:\\\\x.test">', `<a href="${SAFE}">`, 'https:\\\\x.test'],
    ['<a href="https:x.test">', `<a href="${SAFE}">`, 'https:x.test'],
    ['<a href="//x.test/y">', `<a href="${SAFE}">`, 'https://x.test/y'],
    ['<a href=" ht\ntps://x.test/ ">', `<a href="${SAFE}">`, 'ht\ntps://x.test/'],
    ['<a href="https://żółw.test/é&nbsp;">', `<a href="${SAFE}">`, 'https://żółw.test/é\u00a0'],
    [
      '<!--[if mso]><a href="https://x.test/"><![endif]-->',
      `<!--[if mso]><a href="${SAFE}"><![endif]-->`,
      'https://x.test/',
    ],
    ['<a href="/\t/x.test/y">', `<a href="${SAFE}">`, 'https:/\t/x.test/y'],
    ['<a href=\vhttps://x.test/>', `<a href="${SAFE}">`, 'https://x.test/'],
    [
      '<a href="e?f"><base href="https://x.test/d/">',
      `<a href="${SAFE}"><base href="https://x.test/d/">`,
      'https://x.test/d/e?f',
    ],
    [
      '<base href="https://x.test/d/"><a href="e?f">',
      `<base href="https://x.test/d/"><a href="${SAFE}">`,
      'https://x.test/d/e?f',
    ],
  ])(
    'has its links rewritten with the address as it was written: %j',
    (html, expected, address) => {
      expect(pageOf(html)).toBe(expected)
      expect(seen.at(-1)?.address).toBe(address)
    },
  )

  it.each([
    '<a href="mailto:x@y.test">',
    '<a href="tel:+3120">',
    '<a href="ftp://x.test/">',
    '<a href="javascript:alert(1)">',
    '<a href="data:text/html,x">',
    '<a href="#top">',
    '<a href="/relative">',
    '<a href="https://kept.test/">',
    '<a href="">',
    '<a href>',
    '<a href="https://">',
    '<link href="https://x.test/style.css">',
    '<base href="https://x.test/">',
    '<img src="https://x.test/a.png">',
    '<!-- <a href="https://x.test/"> -->',
    '<p>https://x.test/</p>',
    `<a href="https://x.test/${'x'.repeat(30_000)}">`,
  ])('keeps every byte where nothing leads elsewhere by a click: %j', (html) => {
    expect(pageOf(html)).toBe(html)
  })

  it('has its links rewritten behind very many that lead nowhere else', () => {
    for (const none of ['<a href=x>', '<a href="#x">', '<a href="mailto:x@y.test">']) {
      const html = none.repeat(110_000)
      expect(pageOf(`${html}<a href="https://x.test/">`) === `${html}<a href="${SAFE}">`).toBe(true)
    }
  })

  it('knows the targets of forms', () => {
    pageOf('<form action="https://x.test/"><a href="https://x.test/a">')
    expect(seen.slice(-2).map(({ isForm }) => isForm)).toEqual([true, false])
  })

  it('of hostile HTML is read in linear time', () => {
    const begun = process.cpuUsage()
    pageOf(`<a href="${' '.repeat(400_000)}x">${'<a href="'.repeat(20_000)}${'&'.repeat(50_000)}`)
    pageOf(`<!--[if mso]>${'<!--[if mso]>'.repeat(30_000)}`)
    expect(process.cpuUsage(begun).user).toBeLessThan(10_000_000)
  })
})

describe('a plain text', () => {
  it.each([
    ['see https://x.test/a.', 'see ~.', 'https://x.test/a'],
    ['(https://x.test/a)', '(~)', 'https://x.test/a'],
    ['https://x.test/a_(b)', '~', 'https://x.test/a_(b)'],
    ['<https://x.test/a?b=c&d>', '<~>', 'https://x.test/a?b=c&d'],
    ['"HTTP://x.test",', '"~",', 'HTTP://x.test'],
    ['https://x.test/~', '~', 'https://x.test/~'],
    ['https://x.test/ü.', '~.', 'https://x.test/ü'],
    ['https://grün.test/x', '~', 'https://grün.test/x'],
    ['https://x.test/をご覧', '~をご覧', 'https://x.test/'],
    ['https://例え.test/x', '~', 'https://例え.test/x'],
    ['https://x.test/a。', '~。', 'https://x.test/a'],
  ])('has its addresses rewritten: %j', (text, expected, address) => {
    const out = bodyOf(rewritten(message(Buffer.from(text).toString('latin1'))))
    expect(Buffer.from(out, 'latin1').toString()).toBe(
      expected.replace('~', 'https://safe.test/s?a=1&b=2'),
    )
    expect(seen.at(-1)?.address).toBe(address)
  })

  it('with inline OpenPGP keeps every byte', () => {
    const one = message('-----BEGIN PGP SIGNED MESSAGE-----\r\n\r\nhttps://x.test/\r\n')
    expect(rewriteMessage(one, rewrite)?.result).toBe(one)
  })

  it('of brackets and dots is read in linear time', () => {
    const begun = process.cpuUsage()
    rewritten(message(`https://x.test/${')'.repeat(9000)} `.repeat(200)))
    expect(process.cpuUsage(begun).user).toBeLessThan(10_000_000)
  })
})

describe('a message', () => {
  const part = (type: string, body: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
  const link = '<a href="https://x.test/">x</a>'

  it('is changed although it has a DKIM signature', () => {
    const head = 'DKIM-Signature: v=1; b=x\r\nARC-Seal: i=1\r\nContent-Type: text/html'
    expect(rewritten(message(link, head))).toContain(SAFE)
  })

  it('keeps calendars, attachments and attached messages, and changes the texts beside them', () => {
    const kept = [
      part('text/calendar', 'URL:https://x.test/'),
      part('text/plain; name=a.txt\r\nContent-Disposition: attachment', 'https://x.test/'),
      part('message/rfc822', 'Subject: x\r\n\r\nhttps://x.test/'),
      part('application/pgp-encrypted', 'https://x.test/'),
    ].join('')
    const body = `${part('text/plain', 'https://x.test/')}${part('text/html', link)}${kept}--b--`
    const out = bodyOf(rewritten(message(body, 'Content-Type: multipart/mixed; boundary=b')))
    expect(out).toContain(kept)
    expect(out).toContain(part('text/plain', 'https://safe.test/s?a=1&b=2'))
    expect(out).toContain(SAFE)
  })

  it.each([
    'multipart/signed; boundary=b; protocol="application/pkcs7-signature"',
    'multipart/signed; boundary=b; protocol="application/pgp-signature"',
    'multipart/encrypted; boundary=b; protocol="application/pgp-encrypted"',
  ])('keeps every byte of %s', (type) => {
    const one = message(
      `${part('text/html', link)}${part('text/plain', 'https://x.test/')}--b--`,
      `Content-Type: ${type}`,
    )
    expect(rewriteMessage(one, rewrite)?.result).toBe(one)
  })

  it('gets base64 for a part whose lines would become too long, so that no link stays', () => {
    const body = `${'<a href="https://x.test/">x</a>'.repeat(30)}\r\n`
    const out = rewritten(message(body, 'Content-Type: text/html'))
    expect(out).toMatch(/^Content-Transfer-Encoding: base64\r$/m)
    const decoded = Buffer.from(bodyOf(out), 'base64').toString()
    expect(decoded).toBe(body.replaceAll('https://x.test/', SAFE))
    for (const line of out.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  })

  it('keeps every byte but its links: 300 random messages', async () => {
    let changed = 0
    for (let seed = 0; seed < 300; seed++) {
      const { raw, signed } = randomMail(seed)
      const done = rewriteMessage(
        new MimeMessage(raw),
        (found) => `https://safe.test/${Buffer.from(found.address).toString('hex')}`,
      )
      expect(done, `seed ${seed}`).toBeDefined()
      if (!done) continue
      for (const bytes of signed) expect(done.result.raw.includes(bytes), `seed ${seed}`).toBe(true)
      const [before, after] = [await partsOf(raw), await partsOf(done.result.raw)]
      expect(after.length, `seed ${seed}`).toBe(before.length)
      for (const [index, one] of after.entries()) {
        const was = before[index]
        if (!isLeaf(one) || !was || !isLeaf(was) || one.raw.equals(was.raw)) continue
        changed++
        const back = one.decoded
          .toString('latin1')
          .replace(/https:\/\/safe\.test\/([0-9a-f]+)/g, (_, hex) =>
            Buffer.from(hex, 'hex').toString('latin1'),
          )
        const plain = (text: string) => text.replaceAll('&amp;', '&').replace(/["']/g, '')
        expect(plain(back), `seed ${seed}`).toBe(plain(was.decoded.toString('latin1')))
      }
    }
    expect(changed).toBeGreaterThan(100)
  })
})
