import type { MailServerSettings } from '../../config/mail-servers.ts'
import type { JobRow } from './migration.repository.ts'

/** A job as the API returns it, with the servers named as source and target. */
export function shownJob(row: JobRow, { IMAP_HOST }: Pick<MailServerSettings, 'IMAP_HOST'>) {
  const isImport = row.direction === 'import'
  return {
    ...row,
    job_id: row.id,
    source_host: isImport ? row.remote_host : (IMAP_HOST ?? 'localhost'),
    source_username: isImport ? row.remote_username : row.mailbox,
    target_email: isImport ? row.mailbox : row.remote_username,
  }
}
