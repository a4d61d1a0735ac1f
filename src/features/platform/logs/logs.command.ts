import type { Db } from '../../../database/database.ts'
import { insertCommand } from '../../../http/audit.repository.ts'

/** The audit row of reading logs on the command line. */
export const auditReading = (db: Db, filter: Record<string, unknown>) =>
  insertCommand(db, { action: 'tail_logs', request_body: filter }, new Date())
