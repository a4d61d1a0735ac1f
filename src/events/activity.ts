import { sql } from 'kysely'

/**
 * Rows of `events` that belong to the activity of an organization: not those of single messages,
 * logins to mail servers, progress, regular reports and compliance, which concerns persons who must
 * not learn of it here. It is the condition of the partial index
 * events_activity, which PostgreSQL uses only where a query repeats it, hence a literal.
 */
export const IS_ACTIVITY = sql.raw(
  String.raw`org_id is not null and event !~ '^(compliance|delivery|email|folder|pop3|rag|tracking)\.|^auth\.login\.|\.(progress|report|sent|triggered)$'`,
)
