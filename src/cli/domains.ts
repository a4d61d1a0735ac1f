import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import { ApiError } from '../errors.ts'
import { claimsNamed, proveByCommand } from '../features/domains/ownership/ownership.command.ts'
import { toDomainName } from '../lib/domain-name.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

export async function domainCommands([verb, ...args]: string[]): Promise<void> {
  if (verb !== 'verify') throw new UsageError('domains takes verify')
  return verify(args)
}

/** Confirms the ownership of a pending domain, as an operator does over the API. */
async function verify(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      organization: { type: 'string' },
      reason: { type: 'string', default: 'confirmed on the command line' },
      json: { type: 'boolean', default: false },
    },
  })
  const [name, ...more] = positionals
  if (name === undefined || more.length > 0) throw new UsageError('domains verify takes one NAME')
  const domain = toDomainName(name)
  if (domain === undefined) throw new StartupError(`${name} is not a domain name`)
  const proven = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    const claim = onlyClaim(domain, await claimsNamed(db, domain, values.organization))
    return proveByCommand(db, readConfig(), claim, values.reason).catch(explain)
  })
  if (!proven) throw new StartupError(`the claim on ${domain} was deleted meanwhile`)
  const { id, organization_id, ownership_verified_at } = proven
  print({ domain, id, organization_id, ownership_verified_at }, values.json)
}

function onlyClaim<Claim extends { organization_id: string }>(domain: string, claims: Claim[]) {
  const [claim, ...others] = claims
  if (!claim) throw new StartupError(`no organization has added ${domain}`)
  if (others.length > 0) {
    const ids = claims.map(({ organization_id }) => organization_id).join(', ')
    throw new StartupError(`several organizations claim ${domain}: ${ids}; pass --organization`)
  }
  return claim
}

function explain(error: unknown): never {
  throw error instanceof ApiError ? new StartupError(error.message) : error
}
