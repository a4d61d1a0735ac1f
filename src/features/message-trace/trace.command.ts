import type { Db } from '../../database/database.ts'
import { auditCommand } from '../../http/command-audit.ts'
import type { TraceFilter } from './trace.repository.ts'

/** The audit row of a search on the command line. */
export const recordTrace = (db: Db, filter: TraceFilter): Promise<void> =>
  auditCommand(db, { action: 'trace_messages', body: filter }, new Date())
