import { toMailAddress } from '../../lib/mail-address.ts'
import { InvalidAlias } from './aliases.errors.ts'

export type Sent = Record<string, unknown>

const MAX_DESTINATIONS = 100
// Room for 100 addresses of maximal length, with spaces.
const MAX_DESTINATION_TEXT = 30_000

export interface Source {
  source: string
  domain: string
}

/** Reads an address, or a catch-all: `@domain` or `*@domain`, stored as `@domain`. */
export function readSource(sent: string): Source | undefined {
  const catchAll = /^\*?@(.*)$/s.exec(sent)
  const domain = catchAll && readDomain(catchAll[1] as string)
  if (catchAll) return domain ? { source: `@${domain}`, domain } : undefined
  const read = toMailAddress(sent)
  return read && { source: read.address, domain: read.domain }
}

/** Reads a domain as the part of an address after the at sign. */
export const readDomain = (text: string) => toMailAddress(`x@${text}`)?.domain

export interface Destination {
  /** The text of the request, without outer spaces. */
  destination: string
  destinations: string[]
}

export function readDestination(sent: unknown): Destination {
  if (typeof sent !== 'string') {
    throw new InvalidAlias('destination must be a comma-separated string')
  }
  const entries = sent.split(',')
  if (entries.every((entry) => entry.trim() === ''))
    throw new InvalidAlias('Email list cannot be empty')
  if (entries.length > MAX_DESTINATIONS || sent.length > MAX_DESTINATION_TEXT) {
    throw new InvalidAlias(`An alias has at most ${MAX_DESTINATIONS} destinations`)
  }
  const destinations = entries.map((entry) => {
    const read = toMailAddress(entry)
    if (!read) throw new InvalidAlias(`Invalid email format: ${entry.trim() || 'empty entry'}`)
    return read.address
  })
  return { destination: sent.trim(), destinations: [...new Set(destinations)] }
}

export function readActive(sent: unknown): boolean {
  if (sent === true || sent === 1) return true
  if (sent === false || sent === 0) return false
  throw new InvalidAlias('active must be 1 or 0')
}

/** Reads a new alias; throws for the first problem. */
export function readAlias(sent: Sent): Source & Destination & { active: boolean } {
  for (const name of ['source', 'destination']) {
    if (sent[name] === undefined || sent[name] === null) {
      throw new InvalidAlias(`Missing required field: ${name}`)
    }
  }
  const source = typeof sent.source === 'string' ? readSource(sent.source) : undefined
  if (!source) throw new InvalidAlias('Invalid source address format')
  return {
    ...source,
    ...readDestination(sent.destination),
    active: readActive(sent.active ?? 1),
  }
}
