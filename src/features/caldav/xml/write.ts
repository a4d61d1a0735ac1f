import { breather } from '../../../lib/breather.ts'
import type { Element } from '../../../lib/xml.ts'
import { PREFIXES, splitKey } from './names.ts'

/** A text is escaped in pieces of this length, so that a large object does not keep the event loop. */
const PIECE = 32 * 1024

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // Parsers turn a line break of this kind into another one unless it is escaped.
  '\r': '&#13;',
}

/** Escapes text and leaves out the characters that XML cannot hold. */
export const escaped = (text: string): string =>
  text
    .replace(/[&<>"\r]/g, (character) => ENTITIES[character] as string)
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu, '')

/** The escaped text in pieces; other work runs between them. */
export async function* escapedPieces(text: string): AsyncGenerator<string> {
  const breathe = breather()
  let from = 0
  while (from < text.length) {
    let to = Math.min(from + PIECE, text.length)
    const last = text.charCodeAt(to - 1)
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to++
    yield escaped(text.slice(from, to))
    from = to
    await breathe()
  }
}

/** An element with content that is XML already. */
export function tag(key: string, content = ''): string {
  const { namespace, name } = splitKey(key)
  const prefix = PREFIXES[namespace]
  const full = prefix ? `${prefix}:${name}` : namespace === '' ? name : `x:${name}`
  const declared = prefix ? '' : namespace === '' ? ' xmlns=""' : ` xmlns:x="${escaped(namespace)}"`
  return content === '' ? `<${full}${declared}/>` : `<${full}${declared}>${content}</${full}>`
}

/** The content of an element as text that stands on its own: every element declares its namespace. */
export const contentOf = (element: Element): string => element.nodes.map(written).join('')

function written(node: Element | string): string {
  if (typeof node === 'string') return escaped(node)
  const { namespace, name, attributes } = node
  const prefix = namespace === '' ? '' : 'x:'
  const declared = namespace === '' ? ' xmlns=""' : ` xmlns:x="${escaped(namespace)}"`
  const others = Object.entries(attributes).map(([key, value], index) =>
    attribute(key, escaped(value), `y${index}`),
  )
  return `<${prefix}${name}${declared}${others.join('')}>${contentOf(node)}</${prefix}${name}>`
}

const XML = 'http://www.w3.org/XML/1998/namespace'

function attribute(key: string, value: string, prefix: string): string {
  if (!key.startsWith('{')) return ` ${key}="${value}"`
  const { namespace, name } = splitKey(key)
  return namespace === XML
    ? ` xml:${name}="${value}"`
    : ` xmlns:${prefix}="${escaped(namespace)}" ${prefix}:${name}="${value}"`
}
