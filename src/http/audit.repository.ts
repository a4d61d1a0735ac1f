import { type Insertable, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'

export type AuditEntry = Insertable<Tables['operator_audit']> & { created_at: string }

interface Command {
  /** The operation id of the route that does the same. */
  action: string
  target_type?: string
  target_id?: string
  organization_id?: string | null
  request_body: Record<string, unknown>
  /** 202: the change begins; 200, unless set: it is done. */
  status_code?: number
}

/** The audit row of a command on the host, which has no operator and no request. */
export const insertCommand = (db: Db, command: Command, now: Date): Promise<void> => {
  const { status_code = 200 } = command
  return insertEntries(db, [
    {
      operator_id: null,
      operator_email: null,
      caller_scope: 'platform',
      action: command.action,
      target_type: command.target_type ?? null,
      target_id: command.target_id ?? null,
      organization_id: command.organization_id ?? null,
      request_body: { ...command.request_body, source: 'command line' },
      result: status_code < 400 ? 'success' : 'failure',
      status_code,
      ip_address: '',
      correlation_id: null,
      created_at: now.toISOString(),
    },
  ])
}

/** Inserts all entries as one JSON parameter, so that the statement is the same for any number. */
export const insertEntries = async (db: Db, entries: AuditEntry[]): Promise<void> => {
  await sql`
    insert into operator_audit (operator_id, operator_email, api_key_id, caller_scope, action, target_type,
      target_id, organization_id, request_body, result, status_code, ip_address, correlation_id,
      created_at)
    select operator_id, operator_email, api_key_id, caller_scope, action, target_type,
      target_id, organization_id, request_body, result, status_code, ip_address, correlation_id,
      created_at
    from json_populate_recordset(null::operator_audit, ${JSON.stringify(entries)}::text::json)
  `.execute(db)
}
