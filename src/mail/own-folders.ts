import { type Doveadm, NO_SUCH_USER } from './doveadm.ts'

const SECONDS = 60
/** The namespace of folders that other mailboxes share with this one. */
export const SHARED = /^shared\//i

export interface OwnFolder {
  name: string
  messages: number
  bytes: number
}

/** Lists the folders that belong to a mailbox; an unknown mailbox has none. */
export async function ownFolders(
  doveadm: Doveadm,
  user: string,
  masks: readonly string[] = ['*'],
): Promise<OwnFolder[]> {
  const [answer] = await doveadm.run(
    [['mailboxStatus', { user, field: ['messages', 'vsize'], mailboxMask: masks }]],
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
