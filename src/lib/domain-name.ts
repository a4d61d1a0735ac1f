import { domainToASCII } from 'node:url'

// To the URL parser behind domainToASCII these end a name, are decoded, or are not there at all.
const URL_SYNTAX = /[\s\p{Cc}/\\?#%@:[\]]/u
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A domain name as DNS writes it: lower case, A-labels; undefined when it is none. */
export function toDomainName(text: string): string | undefined {
  const trimmed = text.trim()
  if (URL_SYNTAX.test(trimmed)) return undefined
  const name = domainToASCII(trimmed.toLowerCase().replace(/\.$/, ''))
  const labels = name.split('.')
  const valid =
    labels.length >= 2 && name.length <= 253 && labels.every((label) => LABEL.test(label))
  // A numeric last label is an address, not a name.
  return valid && !/^\d+$/.test(labels.at(-1) ?? '') ? name : undefined
}
