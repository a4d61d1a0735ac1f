import { sql } from 'kysely'
import type { Db } from '../database/database.ts'

/**
 * The targets of each address as Postfix looks them up: the address, then without its +detail, then
 * the catch-all of the domain. An address without targets is not in the result; if an organization is
 * given, addresses of others are not either.
 */
export async function aliasTargets(
  db: Db,
  addresses: readonly string[],
  organizationId?: string,
): Promise<Map<string, string[]>> {
  const isOwn = sql`exists (select from domains where organization_id = ${organizationId}
    and domain = split_part(address, '@', -1))`
  const { rows } = await sql<{ address: string; targets: string[] }>`
    select address, coalesce(
      nullif(array(select edge.alias_targets(address)), '{}'),
      nullif(array(select edge.alias_targets(
        regexp_replace(address, '^([^@+]+)[+][^@]*@', '\\1@'))), '{}'),
      array(select edge.alias_targets('@' || split_part(address, '@', -1)))
    ) as targets
    from unnest(${[...addresses]}::text[]) as address
    where ${organizationId === undefined ? sql`true` : isOwn}`.execute(db)
  return new Map(
    rows.filter(({ targets }) => targets.length > 0).map((row) => [row.address, row.targets]),
  )
}
