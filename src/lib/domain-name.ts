import { domainToASCII } from 'node:url'

// What the parser of addresses would cut off, drop or decode: a path, a line break, an escape.
const FOREIGN = /[\s/\\?#%@:]/
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A domain name as DNS writes it: lower case, A-labels; undefined when it is none. */
export function toDomainName(text: string): string | undefined {
  if (FOREIGN.test(text.trim())) return undefined
  const name = domainToASCII(text.trim().toLowerCase().replace(/\.$/, ''))
  const labels = name.split('.')
  const valid =
    labels.length >= 2 && name.length <= 253 && labels.every((label) => LABEL.test(label))
  // A numeric last label is an address, not a name.
  return valid && !/^\d+$/.test(labels.at(-1) ?? '') ? name : undefined
}
