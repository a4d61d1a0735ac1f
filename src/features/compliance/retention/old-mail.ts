import type { Core } from '../../../core.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { DoveadmAway, type DoveadmCommand } from '../../../mail/doveadm.ts'
import { ownFolders } from '../../../mail/own-folders.ts'
import type { PolicyFields } from './policies.repository.ts'

const ARCHIVE = 'Archive'
const TIMEOUT_SECONDS = 300

type Needs = Pick<Core, 'doveadm' | 'now'>

export const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS)

/** Matches by the time of receipt, which a move to another folder does not change. */
const receivedBefore = (folder: string, limit: Date) => [
  'mailbox',
  folder,
  'before',
  String(Math.floor(limit.getTime() / 1000)),
]

/** Deletes mail older than the retention in every folder, and moves old mail from INBOX to Archive. */
export async function expireMail(needs: Needs, email: string, policy: PolicyFields) {
  const { folders, expired, archivable } = await findOldMail(needs, email, policy)
  const limit = daysBefore(needs.now(), policy.retention_days)
  for (const { name } of expired) {
    await run(needs, 'expunge', { user: email, query: receivedBefore(name, limit) })
  }
  if (archivable > 0) {
    if (!folders.some(({ name }) => name === ARCHIVE)) {
      await run(needs, 'mailboxCreate', { user: email, mailbox: [ARCHIVE] })
    }
    await run(needs, 'move', {
      user: email,
      destinationMailbox: ARCHIVE,
      query: receivedBefore('INBOX', daysBefore(needs.now(), policy.archive_after_days)),
    })
  }
  return countsOf(expired, archivable)
}

/** The counts that `expireMail` would return; changes nothing. */
export async function countOldMail(needs: Needs, email: string, policy: PolicyFields) {
  const { expired, archivable } = await findOldMail(needs, email, policy)
  return countsOf(expired, archivable)
}

const countsOf = (expired: readonly { count: number }[], archivable: number) => ({
  messages_deleted: expired.reduce((sum, { count }) => sum + count, 0),
  messages_archived: archivable,
})

async function findOldMail(needs: Needs, email: string, policy: PolicyFields) {
  const folders = await ownFolders(needs.doveadm, email)
  const count = async (folder: string, limit: Date): Promise<number> =>
    (await run(needs, 'search', { user: email, query: receivedBefore(folder, limit) })).length
  const limit = daysBefore(needs.now(), policy.retention_days)
  const expired: { name: string; count: number }[] = []
  for (const { name, messages } of folders) {
    const found = messages === 0 ? 0 : await count(name, limit)
    if (found > 0) expired.push({ name, count: found })
  }
  const archives = policy.auto_archive && policy.archive_after_days < policy.retention_days
  if (!archives || folders.length === 0) return { folders, expired, archivable: 0 }
  const old = await count('INBOX', daysBefore(needs.now(), policy.archive_after_days))
  const deleted = expired.find(({ name }) => name.toUpperCase() === 'INBOX')?.count ?? 0
  return { folders, expired, archivable: old - deleted }
}

async function run({ doveadm }: Needs, ...command: DoveadmCommand) {
  const [answer] = await doveadm.run([command], TIMEOUT_SECONDS)
  if (!answer?.rows) {
    throw new DoveadmAway(`Dovecot could not ${command[0]}: exit status ${answer?.exitCode}`)
  }
  return answer.rows
}
