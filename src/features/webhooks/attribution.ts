import type { Db } from '../../database/database.ts'
import type { About } from '../../events/events.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { findDomain, findOrganization } from './owners.repository.ts'

/** The domain part of what a mail server calls an address; undefined when it has none. */
export function domainIn(address: unknown): string | undefined {
  if (typeof address !== 'string' || !address.includes('@') || address.length > 1000) {
    return undefined
  }
  return toDomainName(domainOf(address.replace(/^\s*<|>\s*$/g, '')))
}

/**
 * Whom an event about the first of these domains concerns. Where nobody here has it, the event
 * still says which domain it was.
 */
export async function aboutDomain(db: Db, ...names: (string | undefined)[]): Promise<About> {
  const name = names.find((one) => one !== undefined)
  if (name === undefined) return { org_id: null, domain: null }
  const found = await findDomain(db, name)
  return { org_id: found?.organization_id ?? null, domain: found?.domain ?? name }
}

/**
 * The same for a producer that may name the organization itself. Whoever has the domain is believed
 * first: a wrong name would show one tenant what happened to another.
 */
export async function aboutClaim(
  db: Db,
  claimed: { org_id: string | undefined; domain: string | undefined },
): Promise<About> {
  const about = await aboutDomain(db, claimed.domain)
  if (about.org_id !== null || claimed.org_id === undefined) return about
  const organization = await findOrganization(db, claimed.org_id)
  return { ...about, org_id: organization?.id ?? null }
}
