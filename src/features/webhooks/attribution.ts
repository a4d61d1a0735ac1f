import type { Db } from '../../database/database.ts'
import type { About } from '../../events/events.ts'
import { findLogin } from '../../hosting/senders.repository.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { domainOf } from '../../lib/mail-address.ts'

/** The domain of an e-mail address as mail servers write it; undefined when it has none. */
export function domainIn(address: unknown): string | undefined {
  if (typeof address !== 'string' || !address.includes('@') || address.length > 1000) {
    return undefined
  }
  return toDomainName(domainOf(address.replace(/^\s*<|>\s*$/g, '')))
}

/**
 * The organization that owns the first of these domains. An event about a domain that is not hosted
 * here still carries its name.
 */
export async function aboutDomain(db: Db, ...names: (string | undefined)[]): Promise<About> {
  const name = names.find((one) => one !== undefined)
  if (name === undefined) return { org_id: null, domain: null }
  const domain = await findDomain(db, name)
  return { org_id: domain?.organization_id ?? null, domain: domain?.domain ?? name }
}

/**
 * Sent mail belongs to its login, else to its recipient. The sender does not count: without a login
 * anyone can write the name of a tenant there.
 */
export async function aboutOutbound(
  db: Db,
  sent: { auth_user?: string | null; recipients?: string[] | null },
): Promise<About> {
  const login = sent.auth_user
    ? await findLogin(db, sent.auth_user.trim().toLowerCase())
    : undefined
  if (login) return { org_id: login.organization_id, domain: login.domain }
  return aboutDomain(db, ...(sent.recipients ?? []).map(domainIn))
}

/**
 * As aboutDomain, for a producer that may also name an organization. The owner of the domain takes
 * precedence: a wrong organization would show one tenant the events of another.
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

/** The proven domain with this name or id. */
const findDomain = (db: Db, nameOrId: string) =>
  db
    .selectFrom('domains')
    .select(['organization_id', 'domain'])
    .where((eb) => eb.or([eb('domain', '=', nameOrId.toLowerCase()), eb('id', '=', nameOrId)]))
    .where('ownership_verified_at', 'is not', null)
    .executeTakeFirst()

const findOrganization = (db: Db, id: string) =>
  db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()
