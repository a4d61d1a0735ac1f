import type { Core } from '../../../core.ts'
import { type DoveadmCommand, NOT_FOUND } from '../../../mail/doveadm.ts'
import { ownFolders } from '../../../mail/own-folders.ts'
import type { Add, Person } from './erasers.ts'

// A large folder takes its time.
const SECONDS = 600

/** Every message of every folder, then the folders; what is left afterwards is looked at again. */
export async function eraseMail({ db, doveadm }: Core, { email }: Person, add: Add) {
  const run = async (...command: DoveadmCommand) => {
    const [answer] = await doveadm.run([command], SECONDS)
    if (answer?.rows === undefined && answer?.exitCode !== NOT_FOUND) {
      throw new Error(`Dovecot could not ${command[0]}: exit status ${answer?.exitCode}`)
    }
  }
  const folders = await ownFolders(doveadm, email)
  for (const { name, messages, bytes } of folders) {
    if (messages > 0) {
      await run('expunge', { user: email, query: ['mailbox', name, 'all'] })
      await add(db, { messages, bytes })
    }
  }
  // The deepest first; the inbox itself cannot go.
  const others = folders.map(({ name }) => name).filter((name) => name.toUpperCase() !== 'INBOX')
  for (const name of others.sort((one, other) => other.length - one.length)) {
    await run('mailboxDelete', { user: email, mailbox: [name] })
    await add(db, { folders: 1 })
  }
  const left = (await ownFolders(doveadm, email)).reduce((sum, { messages }) => sum + messages, 0)
  if (left > 0) throw new Error(`${left} messages are still there`)
}
