import { basename, dirname } from 'node:path'
import {
  type Doveadm,
  DoveadmAway,
  type DoveadmCommand,
  NO_SUCH_USER,
  NOT_FOUND,
} from './doveadm.ts'
import { KEPT_FOLDERS } from './kept-folders.ts'
import { ownFolders } from './own-folders.ts'

// Expunging a large folder can take minutes.
const TIMEOUT_SECONDS = 600

type Counts = { messages: number; bytes: number; folders: number }

/** Runs a command; a missing mailbox or folder is not an error. */
async function run(doveadm: Doveadm, ...command: DoveadmCommand) {
  const [answer] = await doveadm.run([command], TIMEOUT_SECONDS)
  if (answer?.rows) return answer.rows
  if (answer?.exitCode === NOT_FOUND || answer?.exitCode === NO_SUCH_USER) return []
  throw new DoveadmAway(`Dovecot could not ${command[0]}: exit status ${answer?.exitCode}`)
}

/**
 * Expunges every message of these folders and deletes them, then counts again to prove that no message is
 * left. `removed` is called after each step, so that the counts survive an interruption.
 */
export async function removeMail(
  doveadm: Doveadm,
  user: string,
  removed: (counts: Partial<Counts>) => Promise<void>,
  masks: readonly string[] = ['*', KEPT_FOLDERS],
): Promise<void> {
  const folders = await ownFolders(doveadm, user, masks)
  for (const { name, messages, bytes } of folders) {
    if (messages === 0) continue
    await run(doveadm, 'expunge', { user, query: ['mailbox', name, 'all'] })
    await removed({ messages, bytes })
  }
  // Deepest folder first. The inbox cannot be deleted.
  const deletable = folders.map(({ name }) => name).filter((name) => name.toUpperCase() !== 'INBOX')
  for (const name of deletable.sort((one, other) => other.length - one.length)) {
    await run(doveadm, 'mailboxDelete', { user, mailbox: [name] })
    await removed({ folders: 1 })
  }
  const left = (await ownFolders(doveadm, user, masks)).reduce((sum, one) => sum + one.messages, 0)
  if (left > 0) throw new Error(`${left} messages are left after the expunge`)
}

/**
 * Deletes every file in the home of a deleted mailbox: indexes, which hold subjects, and filter scripts.
 * `id` guards against the home of another mailbox.
 */
export async function removeHome(doveadm: Doveadm, user: string, id: string): Promise<void> {
  const [found] = await run(doveadm, 'user', { userMask: [user], field: 'home' })
  const home = found?.home
  if (!home) return
  if (basename(home) !== id) throw new Error(`the home of ${user} is not named after the mailbox`)
  const where = { fsDriver: 'posix', fsArgs: `prefix=${dirname(home)}/`, path: [id] }
  await run(doveadm, 'fsDelete', { recursive: true, ...where }, user)
}
