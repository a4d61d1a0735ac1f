import type { Core } from '../../../core.ts'
import type { DoveadmCommand } from '../../../mail/doveadm.ts'
import { ownFolders } from '../../../mail/own-folders.ts'
import type { Run } from './runs.repository.ts'

const ARCHIVE = 'Archive'
const SECONDS = 300
const DAY_MS = 24 * 3600 * 1000

export const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS)

/** By when a message was received, also where it has been moved since. */
const older = (folder: string, than: Date) => [
  'mailbox',
  folder,
  'before',
  String(Math.floor(than.getTime() / 1000)),
]

/** Deletes what is too old in every folder; moves what is merely old out of the inbox. */
export async function expireMail({ doveadm, now }: Core, email: string, policy: Run) {
  const folders = await ownFolders(doveadm, email)
  const counts = { messages_deleted: 0, messages_archived: 0 }
  const limit = daysBefore(now(), policy.retention_days)
  for (const { name, messages } of folders) {
    if (messages === 0) continue
    const found = await count(name, limit)
    if (found === 0) continue
    await run('expunge', { user: email, query: older(name, limit) })
    counts.messages_deleted += found
  }
  if (!policy.auto_archive || policy.archive_after_days >= policy.retention_days) return counts
  const old = daysBefore(now(), policy.archive_after_days)
  const found = folders.length > 0 ? await count('INBOX', old) : 0
  if (found === 0) return counts
  if (!folders.some(({ name }) => name === ARCHIVE)) {
    await run('mailboxCreate', { user: email, mailbox: [ARCHIVE] })
  }
  await run('move', { user: email, destinationMailbox: ARCHIVE, query: older('INBOX', old) })
  return { ...counts, messages_archived: found }

  async function run(...command: DoveadmCommand) {
    const [answer] = await doveadm.run([command], SECONDS)
    if (!answer?.rows) {
      throw new Error(`Dovecot could not ${command[0]}: exit status ${answer?.exitCode}`)
    }
    return answer.rows
  }
  async function count(folder: string, than: Date): Promise<number> {
    return (await run('search', { user: email, query: older(folder, than) })).length
  }
}
