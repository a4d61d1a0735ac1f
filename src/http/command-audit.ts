import type { Db } from '../database/database.ts'
import { insertEntries } from './audit.repository.ts'

interface CommandAction {
  /** The operation id of the route that does the same. */
  action: string
  target?: { type: string; id: string }
  organizationId?: string | null
  body: object
}

/** Adds the audit row of a change on the command line, in the transaction of the change. */
export const auditCommand = (
  tx: Db,
  { action, target, organizationId, body }: CommandAction,
  now: Date,
): Promise<void> =>
  insertEntries(tx, [
    {
      operator_id: null,
      operator_email: null,
      caller_scope: 'platform',
      action,
      target_type: target?.type ?? 'command_line',
      target_id: target?.id ?? null,
      organization_id: organizationId ?? null,
      request_body: { ...body, command_line: true },
      result: 'success',
      status_code: 200,
      ip_address: '',
      correlation_id: null,
      created_at: now.toISOString(),
    },
  ])
