import { domainToASCII, domainToUnicode } from 'node:url'
import { withoutSpaces } from './spaces.ts'

// What the parser of addresses would cut off, drop or decode: a path, a line break, an escape.
const FOREIGN = /[\s/\\?#%@:]/
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A domain name as DNS writes it: lower case, A-labels; undefined when it is none. */
export function toDomainName(text: string): string | undefined {
  const sent = withoutSpaces(text)
  if (sent === undefined || FOREIGN.test(sent)) return undefined
  const name = domainToASCII(sent.toLowerCase().replace(/\.$/, ''))
  const labels = name.split('.')
  const valid = labels.length >= 2 && name.length <= 253 && labels.every(isLabel)
  // A numeric last label is an address, not a name.
  return valid && !/^\d+$/.test(labels.at(-1) ?? '') ? name : undefined
}

/** RFC 5890 §2.3.1: what begins with xn-- must be the A-label of something; Node lets all pass. */
const isLabel = (label: string): boolean =>
  LABEL.test(label) && !(label.startsWith('xn--') && domainToUnicode(label) === label)
