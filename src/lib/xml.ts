import { SaxesParser } from 'saxes'

interface Limits {
  depth: number
  /** Elements and attributes. */
  parts: number
}

export interface Element {
  namespace: string
  name: string
  /** Attributes by name; those with a namespace as `{namespace}name`. */
  attributes: Record<string, string>
  /** Elements and the text between them. */
  nodes: (Element | string)[]
}

/** The document cannot be used; the message says why. */
export class UnusableXml extends Error {}

/** Reads a document into a tree. Declarations of a document type are refused, with their entities. */
export function readXml(text: string, { depth, parts }: Limits): Element {
  const parser = new SaxesParser({ xmlns: true })
  const open: Element[] = []
  let root: Element | undefined
  let left = parts
  const count = () => {
    if (--left < 0) throw new UnusableXml(`more than ${parts} elements and attributes`)
  }
  parser.on('opentagstart', count)
  parser.on('attribute', count)
  parser.on('error', (error) => {
    throw new UnusableXml(error.message)
  })
  parser.on('doctype', () => {
    throw new UnusableXml('a DOCTYPE is not allowed')
  })
  parser.on('opentag', ({ uri, local, attributes }) => {
    if (open.length >= depth) throw new UnusableXml(`more than ${depth} levels`)
    const element: Element = { namespace: uri, name: local, attributes: {}, nodes: [] }
    for (const { name, prefix, uri: space, local: plain, value } of Object.values(attributes)) {
      if (prefix === 'xmlns' || name === 'xmlns') continue
      element.attributes[space === '' ? plain : `{${space}}${plain}`] = value
    }
    if (open.length > 0) open.at(-1)?.nodes.push(element)
    else root = element
    open.push(element)
  })
  parser.on('closetag', () => {
    open.pop()
  })
  const add = (piece: string) => {
    open.at(-1)?.nodes.push(piece)
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.write(text).close()
  if (!root) throw new UnusableXml('no element')
  return root
}

export const elementsOf = ({ nodes }: Element): Element[] =>
  nodes.filter((node): node is Element => typeof node !== 'string')

export const isNamed = (element: Element, namespace: string, name: string): boolean =>
  element.namespace === namespace && element.name === name

export const childrenOf = (element: Element, namespace: string, name: string): Element[] =>
  elementsOf(element).filter((child) => isNamed(child, namespace, name))

export const childOf = (
  element: Element | undefined,
  namespace: string,
  name: string,
): Element | undefined =>
  element && elementsOf(element).find((child) => isNamed(child, namespace, name))

/** The text of an element without that of its children. */
export const textOf = (element: Element | undefined): string =>
  element ? element.nodes.filter((node) => typeof node === 'string').join('') : ''

/** Escapes text for element content and attributes. */
export const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)

export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
