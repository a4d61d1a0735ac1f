import { type Insertable, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'

export type AuditEntry = Insertable<Tables['operator_audit']> & { created_at: string }

/** However many there are, it is one statement with one value: each length of a list would be another. */
export const insertEntries = async (db: Db, entries: AuditEntry[]): Promise<void> => {
  await sql`
    insert into operator_audit (operator_id, operator_email, caller_scope, action, target_type,
      target_id, organization_id, request_body, result, status_code, ip_address, correlation_id,
      created_at)
    select operator_id, operator_email, caller_scope, action, target_type,
      target_id, organization_id, request_body, result, status_code, ip_address, correlation_id,
      created_at
    from json_populate_recordset(null::operator_audit, ${JSON.stringify(entries)}::text::json)
  `.execute(db)
}
