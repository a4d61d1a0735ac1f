import { getDomain, getPublicSuffix } from 'tldts'
import { DAY_MS } from '../../../lib/time.ts'

/** A pending claim ends after this time; its end is announced before. */
export const CLAIM_MS = 7 * DAY_MS
export const WARNING_MS = 2 * DAY_MS

export const ownershipName = (domain: string) => `_mailplane.${domain}`
export const ownershipValue = (token: string) => `mailplane-verification=${token}`

/**
 * Others register names under a public suffix, so it belongs to no tenant. The private part of the
 * list counts too: the owner of github.io does not own what its users have there.
 */
export const isPublicSuffix = (name: string): boolean =>
  getPublicSuffix(name, { allowPrivateDomains: true }) === name

/** The name that was registered: `acme.example` for `mail.eu.acme.example`. */
export const registeredName = (name: string): string => getDomain(name) ?? name

/** The name of this host, its parents and its children: who has one of them could speak for the host. */
export function isNameOfHost(name: string, mailHost: string): boolean {
  const host = mailHost.toLowerCase()
  return name === host || isBelow(name, host) || isBelow(host, name)
}

const isBelow = (name: string, parent: string): boolean => name.endsWith(`.${parent}`)

/** The parents of a name that could be domains, nearest first. */
export function parentsOf(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1, -1).map((_, index) => labels.slice(index + 1).join('.'))
}
