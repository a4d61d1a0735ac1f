import { type Doveadm, NO_SUCH_USER } from './doveadm.ts'

const SECONDS = 60
// Folders of others that the mailbox may look into; what is in them is the others'.
const SHARED = /^shared\//i

export interface OwnFolder {
  name: string
  messages: number
  bytes: number
}

/** The folders of a mailbox itself; none when Dovecot does not know it. */
export async function ownFolders(doveadm: Doveadm, user: string): Promise<OwnFolder[]> {
  const [answer] = await doveadm.run(
    [['mailboxStatus', { user, field: ['messages', 'vsize'], mailboxMask: ['*'] }]],
    SECONDS,
  )
  if (answer?.rows === undefined) {
    if (answer?.exitCode === NO_SUCH_USER) return []
    throw new Error(`Dovecot could not list folders: exit status ${answer?.exitCode}`)
  }
  return answer.rows
    .map(({ mailbox = '', messages, vsize }) => ({
      name: mailbox,
      messages: Number(messages) || 0,
      bytes: Number(vsize) || 0,
    }))
    .filter(({ name }) => name !== '' && !SHARED.test(name))
}
