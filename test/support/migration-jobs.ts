import { expect } from 'vitest'
import type { App, Client } from './app.ts'

export const PATH = '/api/v1/migration'
export const passwords = { source_password: 'again', target_password: 'again' }

/** The body of a request for an import into the mailbox of the tenant acme. */
export const importing = (more: object = {}) => ({
  source_host: 'imap.example.com',
  source_username: 'jane@old.example',
  source_password: 'secret of the source',
  target_email: 'admin@acme.test',
  target_password: 'secret of the target',
  ...more,
})

/** The body of a request for an export of that mailbox. */
export const exporting = (more: object = {}) => ({
  source_email: 'admin@acme.test',
  source_password: 'secret of the source',
  target_host: 'imap.example.com',
  target_username: 'jane@new.example',
  target_password: 'secret of the target',
  ...more,
})

/** Starts an import and returns the id of its job. */
export async function startImport(client: Client, body = importing()): Promise<string> {
  const { status, body: answer } = await client.post(`${PATH}/import`, body)
  expect(status).toBe(201)
  return answer.job_id
}

/** Gives a job the status of a finished one, without passwords. */
export const settleJob = ({ core }: App, id: string, status: string, more: object = {}) =>
  core.db
    .updateTable('migration_jobs')
    .set({ status: status as 'completed', credentials: null, ...more })
    .where('id', '=', id)
    .execute()

/** Stores a message that could not be copied. */
export const storeFailure = ({ core }: App, id: string, uid: string, more: object = {}) =>
  core.db
    .insertInto('migration_errors')
    .values({
      job_id: id,
      folder: 'INBOX',
      message_uid: uid,
      error_type: 'append_refused',
      error_message: 'NO message too large',
      ...more,
    })
    .execute()
