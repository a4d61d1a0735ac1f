import type { Db } from '../../../database/database.ts'
import { insertCommand } from '../../../http/audit.repository.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import { sendTestMail } from './system-mail.service.ts'

/** Sends a test mail on the command line, with its audit row. */
export async function testByCommand(db: Db, mailer: Mailer, to: string) {
  const result = await sendTestMail(mailer, to)
  const request_body = { to, sent: result.sent }
  await insertCommand(db, { action: 'test_system_mail', request_body }, new Date())
  return result
}
