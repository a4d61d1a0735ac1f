import type { Db } from '../../database/database.ts'

/** Undefined unless mail of the domain is accepted here: not for pending claims or suspended tenants. */
export const findHosted = (db: Db, domain: string) =>
  db
    .selectFrom('domains')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select(['domains.id', 'domains.domain', 'domains.mta_sts_mode', 'domains.mta_sts_problem'])
    .where('domains.domain', '=', domain)
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .executeTakeFirst()
