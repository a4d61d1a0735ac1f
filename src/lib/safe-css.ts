import type { Atrule, CssNode, Declaration, List, Rule } from 'css-tree'
import generate from 'css-tree/generator'
import parse from 'css-tree/parser'
import walk from 'css-tree/walker'

/** Every other at-rule is dropped: it loads or names something. */
const GROUPS = new Set(['media', 'supports'])
const MAX_GROUP_DEPTH = 3
const PROPERTY = /^(--)?-?[a-z][a-z0-9-]*$/i
const FORBIDDEN_PROPERTY = /^(behavior|-moz-binding|-ms-behavior|src)$/i
/** Functions that load a resource, run code or read something of the page; with vendor prefix too. */
const FORBIDDEN_FUNCTION =
  /(^|-)(url|image|image-set|cross-fade|element|src|attr|expression|paint|env)$/i
/** In strings too: an unclosed string may hold the declarations that follow it. */
const FORBIDDEN_STRING = /(url|image|image-set|cross-fade|element|src|attr|expression|paint|env)\(/i
/** Could end the style element, start a block, or hide another meaning behind an escape. */
const FORBIDDEN_TEXT = /[<{}\\@`]|(javascript|vbscript|data)\s*:/i

/**
 * Keeps plain rules, `@media` and `@supports`, and serializes them from the syntax tree: the result
 * loads nothing from another site and cannot end its style element.
 */
export function safeCss(css: string): string {
  const sheet = parseSafely(css, 'stylesheet')
  return sheet?.type === 'StyleSheet' ? rulesOf(sheet.children, 0).trim() : ''
}

/** Sanitizes the content of a style attribute. */
export function safeDeclarations(css: string): string {
  const list = parseSafely(css, 'declarationList')
  return list?.type === 'DeclarationList' ? declarationsOf(list.children) : ''
}

function parseSafely(css: string, context: 'stylesheet' | 'declarationList'): CssNode | undefined {
  try {
    return parse(css.replaceAll('\0', ''), { context, parseCustomProperty: true })
  } catch {
    // Nesting that is deeper than the call stack.
    return undefined
  }
}

function rulesOf(nodes: List<CssNode>, depth: number): string {
  let css = ''
  for (const node of nodes) {
    if (node.type === 'Atrule') css += groupOf(node, depth)
    if (node.type === 'Rule') css += ruleOf(node)
  }
  return css
}

function groupOf({ name, prelude, block }: Atrule, depth: number): string {
  if (!GROUPS.has(name.toLowerCase()) || !block || depth >= MAX_GROUP_DEPTH) return ''
  const condition = prelude ? generate(prelude) : ''
  if ((prelude && !isSafe(prelude)) || /["'>;]/.test(condition)) return ''
  return `@${name.toLowerCase()} ${condition} {\n${rulesOf(block.children, depth + 1)}}\n`
}

function ruleOf({ prelude, block }: Rule): string {
  const declarations = declarationsOf(block.children)
  if (prelude.type === 'Raw' || declarations === '' || !isSafe(prelude)) return ''
  return `${generate(prelude)} { ${declarations} }\n`
}

const declarationsOf = (nodes: List<CssNode>): string =>
  nodes
    .toArray()
    .filter((node) => node.type === 'Declaration')
    .filter(isSafeDeclaration)
    .map(
      ({ property, value, important }) =>
        `${property}: ${generate(value)}${important ? ' !important' : ''};`,
    )
    .join(' ')

function isSafeDeclaration({ property, value }: Declaration): boolean {
  if (!PROPERTY.test(property) || FORBIDDEN_PROPERTY.test(property)) return false
  return generate(value) !== '' && !generate(value).includes('>') && isSafe(value)
}

/** Raw text is what css-tree could not parse, so nothing is known about it. */
const isSafe = (node: CssNode): boolean =>
  !FORBIDDEN_TEXT.test(generate(node)) &&
  walk.find(
    node,
    (part) =>
      part.type === 'Raw' ||
      (part.type === 'String' && FORBIDDEN_STRING.test(part.value)) ||
      (part.type === 'Url' && !isOwnPath(part.value)) ||
      (part.type === 'Function' && FORBIDDEN_FUNCTION.test(part.name)),
  ) === null

/** A path of this site, and not `//elsewhere`, which browsers also write as `/\elsewhere`. */
export const isOwnPath = (url: string): boolean => /^\/(?![/\\])[^\\\0-\x20\x7f-\xa0]*$/.test(url)
