import { sql } from 'kysely'
import { addressRulesOf } from '../access/address-rules.repository.ts'
import type { Db } from '../database/database.ts'
import type { AddressRule } from '../lib/address-rules.ts'

export interface GeoPolicy {
  allowed_countries: string[]
  blocked_countries: string[]
  time_restrictions: {
    allowed_hours?: { start?: number; end?: number }
    timezone_offset?: number
    applies_to_countries?: string[]
  } | null
  action: 'block' | 'challenge' | 'log_only'
}

/** The access settings of an organization in one query, because it runs for every recipient. */
export async function findAccess(db: Db, organizationId: string) {
  const { rows } = await sql<{ rules: AddressRule[]; geo: GeoPolicy | null }>`
    select
      ${addressRulesOf(sql`${organizationId}`, 'smtp')} as rules,
      (select to_jsonb(geo_policies) from geo_policies
        where organization_id = ${organizationId} and enabled) as geo`.execute(db)
  return rows[0] as { rules: AddressRule[]; geo: GeoPolicy | null }
}
