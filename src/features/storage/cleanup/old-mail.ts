import type { Core } from '../../../core.ts'
import { type DoveadmAnswer, NO_SUCH_USER, NOT_FOUND } from '../../../mail/doveadm.ts'
import { addressesOf } from '../storage.repository.ts'

const AT_ONCE = 20
const BATCH_SECONDS = 20
/** Callers wait half a minute for an answer. */
const PATIENCE_MS = 25_000

export const FOLDERS: Record<string, readonly string[]> = {
  trash: ['Trash'],
  spam: ['Junk'],
  expired: [],
  all: ['Trash', 'Junk'],
}

type Needs = Pick<Core, 'db' | 'doveadm' | 'log'>

/** By when a message came into the folder, not by its date: old mail may be thrown away today. */
const query = (folder: string, before: Date) => [
  'mailbox',
  folder,
  'savedbefore',
  String(Math.floor(before.getTime() / 1000)),
]

/** The mailboxes of a domain that have old messages in these folders, and how many. */
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
    const pairs = emails.flatMap((user) => folders.map((folder) => ({ user, folder })))
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

/** Removes what was found. Answers how many messages; fewer when there was no time for all. */
export async function removeOldMail(
  needs: Needs,
  found: { user: string; folder: string; messages: number }[],
  before: Date,
): Promise<number> {
  const end = Date.now() + PATIENCE_MS / 2
  let removed = 0
  for (let at = 0; at < found.length && Date.now() < end; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE)
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

/** A mailbox that Dovecot does not know, or without the folder, has nothing in it. */
function rowsOf({ log }: Needs, user: string, answer: DoveadmAnswer | undefined): number {
  if (answer?.rows) return answer.rows.length
  if (answer?.exitCode !== NO_SUCH_USER && answer?.exitCode !== NOT_FOUND) {
    log.warn({ exit_code: answer?.exitCode, user }, 'old mail of a mailbox could not be looked at')
  }
  return 0
}
