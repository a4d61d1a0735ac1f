import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../access/caller.ts'

/** Restricts a query to the rows a caller may see; another organization's are simply not there. */
export const inScope = (table: string, scope: Scope) =>
  scope === 'platform'
    ? sql<SqlBool>`true`
    : sql<SqlBool>`${sql.ref(`${table}.organization_id`)} = ${scope.organization}`

/** The same for a prepared query, whose text is one for all callers: no organization means all. */
export const inScopeOf = (table: string, organization: string | null) =>
  sql<SqlBool>`(${organization}::text is null
    or ${sql.ref(`${table}.organization_id`)} = ${organization})`

export const organizationOf = (scope: Scope): string | null =>
  scope === 'platform' ? null : scope.organization

/** A platform caller may narrow to one organization; a tenant is always its own, whatever it sends. */
export const narrowed = (scope: Scope, organizationId: string | undefined): Scope =>
  scope === 'platform' && organizationId !== undefined ? { organization: organizationId } : scope
