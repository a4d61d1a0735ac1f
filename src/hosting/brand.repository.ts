import { sql } from 'kysely'
import type { Db } from '../database/database.ts'

/** The parts of a brand that people see. Markup is sanitized before it is stored. */
export interface ShownBrand {
  brand_name?: string
  logo_url?: string
  favicon_url?: string
  primary_color?: string
  secondary_color?: string
  login_page_html?: string
  footer_html?: string
  custom_css?: string
  support_email?: string
  support_url?: string
}

/** The brand of an organization; empty when it has none. */
export async function brandOf(db: Db, organizationId: string): Promise<ShownBrand> {
  const row = await db
    .selectFrom('whitelabel_configs')
    .select(sql<ShownBrand>`fields - 'custom_domain'`.as('fields'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row?.fields ?? {}
}

/** The brand of the organization whose custom domain, once verified, is this host. */
export async function brandOfHost(db: Db, host: string): Promise<ShownBrand | undefined> {
  const row = await db
    .selectFrom('whitelabel_configs')
    .innerJoin('organizations', 'organizations.id', 'whitelabel_configs.organization_id')
    .select(sql<ShownBrand>`fields - 'custom_domain'`.as('fields'))
    .where('whitelabel_configs.custom_domain', '=', host)
    .where('whitelabel_configs.domain_verified_at', 'is not', null)
    .where('organizations.active', '=', true)
    .executeTakeFirst()
  return row?.fields
}

/** The last lines of a notice: whom it comes from, and where to ask. */
export const signatureOf = ({ brand_name, support_email, support_url }: ShownBrand): string[] => {
  const lines = [brand_name, support_email, support_url].filter((line) => line !== undefined)
  return lines.length === 0 ? [] : ['', '-- ', ...lines]
}
