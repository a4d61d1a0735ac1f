import type { Core } from '../../../core.ts'
import { heldAmong } from '../../../hosting/held-mailboxes.repository.ts'
import { type DoveadmAnswer, NO_SUCH_USER, NOT_FOUND } from '../../../mail/doveadm.ts'
import { addressesOf } from '../storage.repository.ts'

const AT_ONCE = 20
const BATCH_SECONDS = 20
/** Clients wait about half a minute for a response. */
const PATIENCE_MS = 25_000

export const FOLDERS: Record<string, readonly string[]> = {
  trash: ['Trash'],
  spam: ['Junk'],
  expired: [],
  all: ['Trash', 'Junk'],
}

type Needs = Pick<Core, 'db' | 'doveadm' | 'log' | 'now'>

/** Uses the time a message was saved to the folder: an old message may be deleted today. */
const query = (folder: string, before: Date) => [
  'mailbox',
  folder,
  'savedbefore',
  String(Math.floor(before.getTime() / 1000)),
]

/**
 * The mailboxes of a domain that have old messages in these folders, and how many. Mailboxes under a
 * legal hold are left out.
 */
export async function findOldMail(
  needs: Needs,
  domainId: string,
  folders: readonly string[],
  before: Date,
) {
  const found: { user: string; folder: string; messages: number }[] = []
  const end = Date.now() + PATIENCE_MS / 2
  let after = ''
  while (folders.length > 0) {
    const emails = await addressesOf(needs.db, domainId, after, AT_ONCE)
    const held = await heldAmong(needs.db, emails, needs.now())
    const free = emails.filter((email) => !held.has(email))
    const pairs = free.flatMap((user) => folders.map((folder) => ({ user, folder })))
    const answers = await needs.doveadm.run(
      pairs.map(({ user, folder }) => ['search', { user, query: query(folder, before) }]),
      BATCH_SECONDS,
    )
    pairs.forEach((pair, index) => {
      const messages = rowsOf(needs, pair.user, answers[index])
      if (messages > 0) found.push({ ...pair, messages })
    })
    after = emails.at(-1) ?? after
    if (emails.length < AT_ONCE) break
    if (Date.now() > end) return { found, complete: false }
  }
  return { found, complete: true }
}

/** Removes the messages and returns their number; fewer when the time limit is reached. */
export async function removeOldMail(
  needs: Needs,
  found: { user: string; folder: string; messages: number }[],
  before: Date,
): Promise<number> {
  const end = Date.now() + PATIENCE_MS / 2
  let removed = 0
  for (let at = 0; at < found.length && Date.now() < end; at += AT_ONCE) {
    const batch = found.slice(at, at + AT_ONCE)
    // Read again for every batch, so that a new hold keeps the rest of the mail.
    const users = batch.map(({ user }) => user)
    const held = await heldAmong(needs.db, users, needs.now())
    const some = batch.filter(({ user }) => !held.has(user))
    const answers = await needs.doveadm.run(
      some.map(({ user, folder }) => ['expunge', { user, query: query(folder, before) }]),
      BATCH_SECONDS,
    )
    some.forEach(({ user, messages }, index) => {
      if (answers[index]?.rows) removed += messages
      else rowsOf(needs, user, answers[index])
    })
  }
  return removed
}

/** Zero for a mailbox that Dovecot does not know and for a missing folder. */
function rowsOf({ log }: Needs, user: string, answer: DoveadmAnswer | undefined): number {
  if (answer?.rows) return answer.rows.length
  if (answer?.exitCode !== NO_SUCH_USER && answer?.exitCode !== NOT_FOUND) {
    log.warn({ exit_code: answer?.exitCode, user }, 'searching old mail of a mailbox failed')
  }
  return 0
}
