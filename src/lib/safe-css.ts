/** Of these at-rules the rules inside are kept; all others go: they fetch, or name, something. */
const GROUPS = /^@(media|supports)\b[^<>\\@{}"'`;]*$/i
const PROPERTY = /^(--)?-?[a-z][a-z0-9-]*$/i
const FORBIDDEN_PROPERTY = /^(behavior|-moz-binding|-ms-behavior|src)$/i
const FETCHING = /(url|image|image-set|cross-fade|element|src|attr|expression|paint|env)\(/i
const OWN_URL =
  /url\(\s*(?:"\/(?![/\\])[^"()<>\\]*"|'\/(?![/\\])[^'()<>\\]*'|\/(?![/\\])[^\s"'()<>\\]*)\s*\)/gi
const MAX_DEPTH = 3

/**
 * A style sheet that fetches nothing from elsewhere and cannot end its element: rules and
 * declarations of plain form, written anew. What is not of plain form is left out, above all
 * escapes, under which anything could hide.
 */
export const safeCss = (css: string): string => rules(withoutComments(css), 0).trim()

/** The same for what stands in a style attribute. */
export const safeDeclarations = (css: string): string => declarations(withoutComments(css))

function withoutComments(css: string): string {
  // A comment that does not end takes the rest with it, as in browsers.
  return css.replaceAll('\0', '').replace(/\/\*[\s\S]*?(\*\/|$)/g, ' ')
}

function rules(css: string, depth: number): string {
  if (depth > MAX_DEPTH) return ''
  let out = ''
  let at = 0
  while (at < css.length) {
    const end = find(css, at, '{;')
    if (end === -1) break
    const head = css.slice(at, end).trim()
    if (css[end] === ';') {
      // A statement, such as @import.
      at = end + 1
      continue
    }
    const close = closing(css, end)
    if (close === -1) break
    const body = css.slice(end + 1, close)
    at = close + 1
    if (head.startsWith('@')) {
      if (GROUPS.test(head)) out += `${head} {\n${rules(body, depth + 1)}}\n`
      continue
    }
    if (!isSelector(head)) continue
    const kept = declarations(body)
    if (kept !== '') out += `${head} { ${kept} }\n`
  }
  return out
}

const isSelector = (text: string) => text !== '' && !/[<\\@{};`]/.test(text) && isBalanced(text)

function declarations(css: string): string {
  const kept: string[] = []
  let at = 0
  while (at < css.length) {
    const next = find(css, at, ';')
    const end = next === -1 ? css.length : next
    const text = css.slice(at, end)
    at = end + 1
    const colon = text.indexOf(':')
    if (colon === -1) continue
    const property = text.slice(0, colon).trim()
    const value = text.slice(colon + 1).trim()
    if (isProperty(property) && isValue(value)) kept.push(`${property}: ${value};`)
  }
  return kept.join(' ')
}

const isProperty = (name: string) => PROPERTY.test(name) && !FORBIDDEN_PROPERTY.test(name)

function isValue(value: string): boolean {
  if (value === '' || /[<>{}\\@`]/.test(value) || !isBalanced(value)) return false
  const rest = value.replace(OWN_URL, '')
  return !FETCHING.test(rest) && !/(javascript|vbscript|data)\s*:/i.test(rest)
}

/** Quotes and brackets are closed, so that nothing after it is taken for part of it. */
function isBalanced(text: string): boolean {
  let depth = 0
  let quote = ''
  for (const character of text) {
    if (quote) {
      if (character === quote) quote = ''
      else if (/[\n\r\f]/.test(character)) return false
    } else if (character === '"' || character === "'") quote = character
    else if (character === '(' || character === '[') depth++
    else if (character === ')' || character === ']') depth--
    if (depth < 0) return false
  }
  return depth === 0 && quote === ''
}

/** Where one of these characters stands outside of quotes; -1 when nowhere. */
function find(css: string, from: number, wanted: string): number {
  let quote = ''
  for (let at = from; at < css.length; at++) {
    const character = css[at] as string
    if (quote) {
      if (character === quote || /[\n\r\f]/.test(character)) quote = ''
    } else if (wanted.includes(character)) return at
    else if (character === '"' || character === "'") quote = character
  }
  return -1
}

function closing(css: string, open: number): number {
  let depth = 1
  let at = open
  while (depth > 0) {
    at = find(css, at + 1, '{}')
    if (at === -1) return -1
    depth += css[at] === '{' ? 1 : -1
  }
  return at
}
