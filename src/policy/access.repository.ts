import { sql } from 'kysely'
import type { Db } from '../database/database.ts'

export interface AccessRule {
  rule_type: 'whitelist' | 'blacklist'
  ip_address: string
}

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

/** What an organization has set, in one question: it is asked for every recipient. */
export async function findAccess(db: Db, organizationId: string) {
  const { rows } = await sql<{ rules: AccessRule[]; geo: GeoPolicy | null }>`
    select
      coalesce((
        select jsonb_agg(jsonb_build_object('rule_type', rule_type, 'ip_address', ip_address))
        from ip_access_rules where organization_id = ${organizationId} and active
      ), '[]') as rules,
      (select to_jsonb(geo_policies) from geo_policies
        where organization_id = ${organizationId} and enabled) as geo`.execute(db)
  return rows[0] as { rules: AccessRule[]; geo: GeoPolicy | null }
}
