import type { Config } from '../../config.ts'
import type { JobRow } from './migration.repository.ts'

/** A job as the API tells it: the two servers by the role they have in it. */
export function shownJob(row: JobRow, config: Pick<Config, 'IMAP_HOST'>) {
  const isImport = row.direction === 'import'
  return {
    ...row,
    job_id: row.id,
    source_host: isImport ? row.remote_host : (config.IMAP_HOST ?? 'localhost'),
    source_username: isImport ? row.remote_username : row.mailbox,
    target_email: isImport ? row.mailbox : row.remote_username,
  }
}
