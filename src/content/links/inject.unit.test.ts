import { describe, expect, it } from 'vitest'
import { MimeMessage } from '../../mime/message.ts'
import { planPage } from './html-plan.ts'
import { planInjection } from './inject.ts'

const wishes = { opens: true, clicks: true, leaves: (url: URL) => url.hostname === 'kept.test' }
const copy = {
  pixelUrl: 'https://t.test/p?a=1&b=2',
  linkUrl: (position: number) => `https://t.test/c${position}?a=1&b=2`,
  unsubscribeUrl: 'https://t.test/u',
}
const PIXEL = '<img src="https://t.test/p?a=1&amp;b=2" alt="" width="1" height="1" border="0">'

const message = (body: string, headers = 'Content-Type: text/html; charset=utf-8') =>
  Buffer.from(`From: a@b.test\r\nMessage-ID: <m@b.test>\r\n${headers}\r\n\r\n${body}`, 'latin1')
const injected = (raw: Buffer) => {
  const plan = planInjection(new MimeMessage(raw), wishes)
  if (!plan) throw new Error('no message')
  return plan
    .write({ 'X-Svc-ID': '01X' }, plan.isTrackable ? copy : undefined)
    .raw.toString('latin1')
}
const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)
const pageOf = (html: string) => planPage(html, wishes).write(copy)

describe('an HTML page', () => {
  it.each([
    ['<body>x</body></html>', `<body>x${PIXEL}</body></html>`],
    ['<p>x', `<p>x${PIXEL}`],
    ['<html>x</html>\r\n', `<html>x${PIXEL}</html>\r\n`],
    ['x</body>y<p>z</p>', `x</body>y<p>z</p>${PIXEL}`],
    ['<!-- </body> -->x', `<!-- </body> -->x${PIXEL}`],
    ['<style></body></style>x</BODY >', `<style></body></style>x${PIXEL}</BODY >`],
  ])('gets the pixel at the end of its body: %j', (html, expected) => {
    expect(pageOf(html)).toBe(expected)
  })

  it.each([
    ['<a href="https://x.test/?a=1&amp;b=2">', '"https://t.test/c0?a=1&amp;b=2"'],
    ['<a href="https://x.test/?a=1&b=2">', '"https://t.test/c0?a=1&amp;b=2"'],
    ["<A HREF = 'HTTP://x.test'>", "'https://t.test/c0?a=1&amp;b=2'"],
    ['<a href=https://x.test/ class=y>', '"https://t.test/c0?a=1&amp;b=2" class=y'],
    ['<area href=" https://x.test/\n">', '"https://t.test/c0?a=1&amp;b=2"'],
    ['<a href="https://żółw.test/é">', '"https://t.test/c0?a=1&amp;b=2"'],
  ])('has its links rewritten: %j', (html, expected) => {
    expect(pageOf(html)).toContain(expected)
  })

  it.each([
    '<a href="mailto:x@y.test">',
    '<a href="tel:+3120">',
    '<a href="ftp://x.test/">',
    '<a href="file:///etc/passwd">',
    '<a href="#top">',
    '<a href="/relative">',
    '<a href="//x.test/">',
    '<a href="javascript:alert(1)">',
    '<a href="data:text/html,x">',
    '<a href="https://user:secret@x.test/">',
    '<a href="https://kept.test/">',
    '<a href="">',
    '<a href>',
    '<a href="https://">',
    '<a name="https://x.test/">',
    '<link href="https://x.test/style.css">',
    '<img src="https://x.test/a.png">',
    '<!-- <a href="https://x.test/"> -->',
    '<title><a href="https://x.test/"></title>',
    '<script>"<a href=\'https://x.test/\'>"</script>',
    `<a href="https://x.test/${'x'.repeat(5000)}">`,
  ])('keeps links that are not http or are excluded: %j', (html) => {
    expect(pageOf(html)).toBe(html + PIXEL)
  })

  it('has one position for each URL, however it is written', () => {
    const plan = planPage(
      '<a href="https://x.test"><a href="https://X.test/"><a href="https://y.test/">',
      wishes,
    )
    expect(plan.links).toEqual(['https://x.test/', 'https://y.test/'])
    expect(plan.linksRewritten).toBe(3)
  })
})

describe('a message', () => {
  it('gets missing headers after its own headers', () => {
    expect(injected(message('x'))).toBe(
      `From: a@b.test\r\nMessage-ID: <m@b.test>\r\nContent-Type: text/html; charset=utf-8\r\nX-Svc-ID: 01X\r\nList-Unsubscribe: <https://t.test/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nx${PIXEL}`,
    )
    const has =
      'Content-Type: text/html\r\nX-SVC-ID: mine\r\nlist-unsubscribe:\r\n <mailto:u@b.test>'
    expect(injected(message('x', has))).toBe(message(`x${PIXEL}`, has).toString('latin1'))
  })

  it.each(['off', 'OFF', 'no', 'false', '0'])(
    'is not tracked if X-Svc-Tracking is %s, and that header is removed',
    (word) => {
      const raw = message('x</body>', `X-Svc-Tracking: ${word}\r\nContent-Type: text/html`)
      expect(injected(raw)).toBe(
        message('x</body>', 'Content-Type: text/html\r\nX-Svc-ID: 01X').toString('latin1'),
      )
    },
  )

  it('loses the opt-out header also when it is tracked', () => {
    const out = injected(message('x', 'X-Svc-Tracking: on\r\n\tfolded\r\nContent-Type: text/html'))
    expect(out).not.toMatch(/X-Svc-Tracking|folded/)
    expect(out).toContain(PIXEL)
  })

  it.each([
    ['DKIM-Signature: v=1; d=b.test\r\nContent-Type: text/html', '<p>x'],
    ['Content-Type: text/html; charset=utf-16', '<p>x'],
    ['Content-Type: text/html; charset=utf-7', '<p>x'],
    ['Content-Type: text/html; charset=iso-2022-jp', '<p>x'],
    ['Content-Type: text/html; charset=unheard-of', '<p>x'],
    ['Content-Type: text/html', '<p>\x1b$BF|\x1b(B'],
    ['Content-Type: text/html', '<\0p\0>\0'],
    ['Content-Type: text/html\r\nContent-Disposition: attachment', '<p>x'],
    ['Content-Type: text/html; name="page.html"', '<p>x'],
    ["Content-Type: text/html\r\nContent-Disposition: inline; filename*=utf-8''a.html", '<p>x'],
    ['Content-Type: text/html\r\nContent-Transfer-Encoding: x-uuencode', '<p>x'],
    ['Content-Type: text/html\r\nContent-Transfer-Encoding: base64', 'not base64!'],
    ['Content-Type: text/html\r\nContent-Type: text/plain', '<p>x'],
    ['Content-Type: text/plain', '<p>x'],
    ['Subject: nothing said', '<p>x'],
    ['Content-Type: application/pkcs7-mime; smime-type=signed-data', '<p>x'],
    ['Content-Type: message/rfc822', 'Content-Type: text/html\r\n\r\n<p>x'],
    [
      'Content-Type: multipart/signed; boundary=b',
      '--b\r\nContent-Type: text/html\r\n\r\n<p>x\r\n--b--\r\n',
    ],
  ])('keeps every byte of a body that must not change: %s', (headers, body) => {
    expect(injected(message(body, headers))).toBe(
      message(body, `${headers}\r\nX-Svc-ID: 01X`).toString('latin1'),
    )
  })

  it('is changed in every HTML part, also after a boundary with trailing spaces', () => {
    const part = (text: string) => `Content-Type: text/html\r\n\r\n${text}`
    const body = (text: string) =>
      `--b \t\r\n${part(text)}\r\n--b\r\n${part(text)}\r\n--bb\r\nnone\r\n--b--\r\nafter`
    const raw = message(body('<p>x'), 'Content-Type: multipart/alternative; boundary="b"')
    const parts = bodyOf(injected(raw))
    expect(parts.split(PIXEL)).toHaveLength(3)
    expect(parts.replaceAll(PIXEL, '')).toBe(body('<p>x'))
  })

  it('keeps bytes that are not valid UTF-8', () => {
    const html = '<p>\xe9\xff \x80</p></body>'
    const raw = message(html, 'Content-Type: text/html; charset=windows-1252')
    expect(bodyOf(injected(raw))).toBe(html.replace('</body>', `${PIXEL}</body>`))
  })

  it('has no line over 998 bytes: the pixel gets its own line, a link stays', () => {
    const long = `<a href="https://x.test/">${'x'.repeat(960)}</a></body>`
    expect(bodyOf(injected(message(long)))).toBe(long.replace('</body>', `\r\n${PIXEL}\r\n</body>`))
  })

  it('in quoted-printable is encoded again only where it changes', () => {
    const encoding = 'Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable'
    const body = 'a=20b =E9=\r\n <a href=3D"https://x=\r\n.test/">z</a>=0A \r\n</bo=\r\ndy>'
    expect(bodyOf(injected(message(body, encoding)))).toBe(
      'a=20b =E9=\r\n <a href=3D"=\r\nhttps://t.test/c0?a=3D1&amp;b=3D2=\r\n">z</a>=0A \r\n' +
        '<img src=3D"https://t.test/p?a=3D1&amp;b=3D2" alt=3D"" width=3D"1" =\r\n' +
        'height=3D"1" border=3D"0">=\r\n</bo=\r\ndy>',
    )
  })

  it('without a valid header is not changed', () => {
    for (const text of ['', 'no header\r\n\r\nx', 'From: x', 'From: x\r\nbroken line\r\n\r\nx']) {
      expect(planInjection(new MimeMessage(Buffer.from(text)), wishes)).toBeUndefined()
    }
  })

  it('that is nested too deeply is not changed', () => {
    let body = 'Content-Type: text/html\r\n\r\n<p>x'
    for (let depth = 0; depth < 100; depth++) {
      body = `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${body}\r\n--b${depth}--`
    }
    const message = new MimeMessage(Buffer.from(`From: x\r\n${body}`))
    expect(planInjection(message, wishes)).toBeUndefined()
  })

  it('with many links or hostile HTML is planned in linear time', () => {
    const links = '<a href="https://x.test/">x</a>\r\n'.repeat(20_000)
    const hostile = `${'<a href="'.repeat(20_000)}${'--b'.repeat(50_000)}${'&'.repeat(50_000)}`
    for (const html of [links, hostile]) {
      const begun = process.cpuUsage()
      injected(message(html))
      expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000)
    }
  })
})
