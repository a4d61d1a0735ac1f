import { describe, expect, it } from 'vitest'
import compileTemplate from './compile.task.ts'
import { parseSource, renderParsed } from './liquid.ts'
import { withoutProblem } from './template-problem.ts'

const whole = { subject_template: 's', plaintext_content: 't' }
const compiled = (html_content: string, plaintext_content: string | null = null) =>
  withoutProblem(compileTemplate({ ...whole, html_content, plaintext_content }))
const rendered = (html: string, variables: object = {}, strict = false) =>
  renderParsed(parseSource({ ...whole, html }), variables, { format: 'html', strict }).html
const many = (length: number) => Array.from({ length }, (_, at) => at)

/** Templates that would take a server down, with the reason of the refusal. */
const ATTACKS: Record<string, [template: string, variables: object, refusal: RegExp]> = {
  'a range of a billion': ['{% for i in (1..1000000000) %}x{% endfor %}', {}, /too much memory/],
  'nested loops': [
    '{% for i in (1..999) %}{% for j in (1..999) %}{% for k in (1..999) %}{% endfor %}{% endfor %}{% endfor %}',
    {},
    /too long/,
  ],
  'nested loops over a variable': [
    '{% for i in a %}{% for j in a %}{% endfor %}{% endfor %}',
    { a: many(40_000) },
    /too long/,
  ],
  'doubled strings': [
    '{% assign s = "xxxxxxxxxx" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}',
    {},
    /too much memory/,
  ],
  'growth by replace': [
    '{% assign s = "aaaa" %}{% for i in (1..60) %}{% assign s = s | replace: "a", s %}{% endfor %}',
    {},
    /too much memory/,
  ],
  'a sorted range': ['{% assign a = (1..3000000) | sort %}', {}, /too much memory/],
  'sorting again and again': [
    '{% for i in (1..9999) %}{% assign b = a | sort_natural %}{% endfor %}',
    { a: many(40_000) },
    /too long|too much memory/,
  ],
  'a long pattern of a date': ['{{ "now" | date: "%99999999Y" }}', {}, /too much memory/],
  'plain text in a loop': [
    `{% for i in (1..9999) %}${'x'.repeat(100_000)}{% endfor %}`,
    {},
    /too long/,
  ],
  'text captured in a loop': [
    '{% capture a %}{% for i in (1..900000) %}xxxxxxxxxxxxxxxxxxxx{% endfor %}{% endcapture %}',
    {},
    /too long/,
  ],
}

/** Templates that are refused when they are saved. */
const REFUSED: Record<string, [template: string, refusal: RegExp]> = {
  'a file': ["{% include '/etc/passwd' %}", /tag "include" not found/],
  'another template': ["{% render '/etc/passwd' %}", /tag "render" not found/],
  'a layout': ["{% layout '/etc/passwd' %}", /tag "layout" not found/],
  '20,000 nested tags': [
    '{%if a%}'.repeat(10_000) + '{%endif%}'.repeat(10_000),
    /more than 2000 tags/,
  ],
  'nesting in a tag': [`{{ a${'[a'.repeat(900)}${']'.repeat(99)} }}`, /html_content: /],
  'a long chain in a tag': [`{{ a${'.b'.repeat(90_000)} }}`, /more than 2000 characters/],
  'more than 200 KB': ['x'.repeat(200 * 1024 + 1), /more than 200 KB/],
  'filters with expressions': ['{{ a | where_exp: "x", "x > 5" }}', /undefined filter: where_exp/],
  'an unknown filter': ['{{ a | nonsense }}', /undefined filter: nonsense/],
  'an open tag': ['{% if a %}', /html_content: /],
}

describe('a hostile template', () => {
  it.each(Object.entries(ATTACKS))('is refused: %s', (_, [template, variables, refusal]) => {
    expect(() => rendered(template, variables)).toThrow(refusal)
  })

  it.each(Object.entries(REFUSED))('is refused when it is saved: %s', (_, [template, refusal]) => {
    expect(() => compiled(template)).toThrow(refusal)
  })

  it('reaches nothing but the variables', () => {
    const template =
      '{{ a.constructor }}{{ a.__proto__ }}{{ constructor }}{{ "".constructor }}{{ a.b.toString }}'
    expect(rendered(template, { a: { b: 1 } })).toBe('')
  })
})

describe('output', () => {
  it('is escaped in HTML, and as it is in subject and plain text', () => {
    const text = '{{ name }}'
    const parsed = parseSource({ subject_template: text, html: text, plaintext_content: text })
    const variables = { name: `<b>"Tom" & 'Co'` }
    expect(renderParsed(parsed, variables, { format: 'both', strict: false })).toEqual({
      subject: variables.name,
      html: '&lt;b&gt;&#34;Tom&#34; &amp; &#39;Co&#39;',
      plaintext: variables.name,
    })
  })

  it('of a subject is one line', () => {
    const parsed = parseSource({ ...whole, subject_template: 'Hi {{ a }}', html: '' })
    const variables = { a: 'x\r\nBcc: eve@evil.test\u2028y' }
    const { subject } = renderParsed(parsed, variables, { format: 'html', strict: false })
    expect(subject).toBe('Hi x Bcc: eve@evil.test y')
  })

  it('has nothing for a missing variable, unless the caller is strict', () => {
    expect(rendered('Hi {{ a.b }}!')).toBe('Hi !')
    expect(() => rendered('Hi {{ a.b }}!', { a: {} }, true)).toThrow('Missing variable: a.b')
    expect(() => rendered('{{ a | upcase }}', {}, true)).toThrow('Missing variable: a')
    expect(rendered('{% if a %}x{% endif %}{{ a | default: "y" }}', {}, true)).toBe('y')
  })
})

describe('the filter url', () => {
  it.each(['https://acme.test/?a=1&b=2', 'mailto:a@b.test', 'tel:+4911'])('passes %s', (link) => {
    expect(rendered('{{ a | url | raw }}', { a: link })).toBe(link)
  })

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.test',
    'evil',
  ])('refuses %j', (link) => {
    expect(() => rendered('{{ a | url }}', { a: link })).toThrow(/Not a link/)
  })

  it('is asked for where a variable decides a link', () => {
    const warned = (html: string) => compiled(html, 'x').warnings.length
    expect(warned('<a href="{{ a }}">x</a>')).toBe(1)
    expect(warned('<a href="https://{{ host }}/">x</a>')).toBe(1)
    expect(warned("<a href='{{ a | strip }}'>x</a><img src={{b}}>")).toBe(2)
    expect(warned('<a href="{{ a | url }}">x</a>')).toBe(0)
    expect(warned('<a href="https://acme.test/?id={{ id }}">x</a>')).toBe(0)
  })
})

describe('MJML', () => {
  const mjml = (inner: string) =>
    `<mjml><mj-body><mj-section><mj-column>${inner}</mj-column></mj-section></mj-body></mjml>`

  it('is compiled to HTML, and Liquid in it stays', () => {
    const { compiled_html, plaintext_content } = compiled(
      mjml('<mj-text>{% for a in b %}Hi {{ a | default: "you" }}{% endfor %}</mj-text>'),
    )
    expect(compiled_html).toContain('<!doctype html>')
    expect(rendered(compiled_html as string, { b: ['<Tom>'] })).toContain('Hi &lt;Tom&gt;')
    expect(plaintext_content.trim()).toBe('{% for a in b %}Hi {{ a | default: "you" }}{% endfor %}')
  })

  it.each([
    ['an unknown element', mjml('<mj-foo />'), /unknown element mj-foo/],
    ['mj-include', mjml('<mj-include path="/etc/passwd" />'), /mj-include is not allowed/],
    ['broken markup', '<mjml><mj-body>', /MJML: /],
    ['deep nesting', mjml('<div>'.repeat(5000)), /nested too deeply/],
  ])('is refused with %s', (_, source, refusal) => {
    expect(() => compiled(source)).toThrow(refusal)
  })
})

describe('plain text of HTML', () => {
  it('has the words and the links, and keeps Liquid', () => {
    const html =
      '<style>p{}</style><h1>Hello {{ name }}</h1><p>Your <b>order</b> &amp; more</p><a href="{{ url }}">Open</a>'
    expect(compiled(html).plaintext_content).toBe(
      'Hello {{ name }}\n\nYour order & more\n\nOpen [{{ url }}]\n',
    )
  })

  it('ends at its limits', () => {
    const { plaintext_content } = compiled(`${'<div>'.repeat(30_000)}deep`)
    expect(plaintext_content).not.toContain('deep')
  })
})
