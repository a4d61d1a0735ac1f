import { type SqlBool, sql } from 'kysely'

/** The rows that a caller may see: those of one organization, or all of them for the platform. */
export type Scope = { readonly organization: string } | 'platform'

/** Restricts a query to the rows of the scope. */
export const inScope = (table: string, scope: Scope) =>
  scope === 'platform'
    ? sql<SqlBool>`true`
    : sql<SqlBool>`${sql.ref(`${table}.organization_id`)} = ${scope.organization}`

/** For a prepared query, which has one text for all callers: null means all organizations. */
export const inScopeOf = (table: string, organization: string | null) =>
  sql<SqlBool>`(${organization}::text is null
    or ${sql.ref(`${table}.organization_id`)} = ${organization})`

export const organizationOf = (scope: Scope): string | null =>
  scope === 'platform' ? null : scope.organization

/** A platform caller may narrow to one organization; a tenant always keeps its own. */
export const narrowed = (scope: Scope, organizationId: string | undefined): Scope =>
  scope === 'platform' && organizationId !== undefined ? { organization: organizationId } : scope
