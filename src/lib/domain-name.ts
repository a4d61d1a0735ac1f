import { domainToASCII, domainToUnicode } from 'node:url'
import { trimSpaces } from './spaces.ts'

// The URL parser would cut off, drop or decode these: a path, a line break, an escape.
const FOREIGN = /[\s/\\?#%@:]/
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Normalizes a domain name to lower case and A-labels; undefined when it is invalid. */
export function toDomainName(text: string): string | undefined {
  const trimmed = trimSpaces(text)
  if (trimmed === undefined || FOREIGN.test(trimmed)) return undefined
  const name = domainToASCII(trimmed.toLowerCase().replace(/\.$/, ''))
  const labels = name.split('.')
  const valid = labels.length >= 2 && name.length <= 253 && labels.every(isLabel)
  // With a numeric last label it is an IP address.
  return valid && !/^\d+$/.test(labels.at(-1) ?? '') ? name : undefined
}

/** A label with the prefix xn-- must be a valid A-label (RFC 5890 §2.3.1); Node accepts any. */
const isLabel = (label: string): boolean =>
  LABEL.test(label) && !(label.startsWith('xn--') && domainToUnicode(label) === label)
