import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ServiceUnavailable } from '../../../errors.ts'
import { DoveadmAway, type DoveadmCommand } from '../../../mail/doveadm.ts'
import { KEPT_FOLDERS, KEPT_PREFIX } from '../../../mail/kept-folders.ts'
import { ownFolders } from '../../../mail/own-folders.ts'
import { MailboxNotFound, NothingKept } from '../compliance.errors.ts'
import { findMailbox } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { userEmail } from '../user-email.ts'

const RECOVERED = 'Recovered'
const TIMEOUT_SECONDS = 60

export type KeptMailService = ReturnType<typeof keptMailService>

/** Messages that a legal hold keeps after their holder expunged them. */
export function keptMailService({
  change,
  db,
  doveadm,
  log,
  now,
}: Pick<Core, 'change' | 'db' | 'doveadm' | 'log' | 'now'>) {
  async function asking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DoveadmAway)) throw error
      log.warn({ err: error }, 'reading kept mail failed')
      throw new ServiceUnavailable('Mail server unavailable')
    }
  }
  async function run(...command: DoveadmCommand): Promise<void> {
    const [answer] = await doveadm.run([command], TIMEOUT_SECONDS)
    if (answer?.rows) return
    throw new DoveadmAway(`${command[0]} failed: exit status ${answer?.exitCode}`)
  }
  async function existing(email: string) {
    const mailbox = await findMailbox(db, userEmail(email))
    if (!mailbox) throw new MailboxNotFound()
    return mailbox
  }
  async function keptIn(user_email: string) {
    if (!doveadm.isConfigured) return { user_email, messages: 0, folders: [] }
    const folders = (await ownFolders(doveadm, user_email, [KEPT_FOLDERS]))
      .filter(({ messages }) => messages > 0)
      .map(({ name, messages, bytes }) => ({
        folder: name.slice(KEPT_PREFIX.length),
        messages,
        bytes,
      }))
    return { user_email, messages: folders.reduce((sum, one) => sum + one.messages, 0), folders }
  }

  return {
    list: async (email: string) => {
      const mailbox = await existing(email)
      return asking(() => keptIn(mailbox.email))
    },

    /** Copies the messages to the folder Recovered, where the holder can read them again. */
    async restore(caller: Caller, email: string, reason: string) {
      const mailbox = await existing(email)
      const { email: user_email, organization_id } = mailbox
      return asking(async () => {
        const kept = await keptIn(user_email)
        if (kept.messages === 0) throw new NothingKept()
        // A name without a wildcard is an error where there is no such folder.
        const folders = await ownFolders(doveadm, user_email, [`${RECOVERED}*`])
        if (!folders.some(({ name }) => name === RECOVERED)) {
          await run('mailboxCreate', { user: user_email, mailbox: [RECOVERED] })
        }
        // Recorded first, so that an interrupted copy is on record too.
        await change(caller, (tx) => {
          const details = { messages: kept.messages, folder: RECOVERED, reason }
          const action = 'kept_mail.restored'
          return record(tx, caller, { action, organization_id, user_email, details }, now())
        })
        await run('copy', {
          user: user_email,
          destinationMailbox: RECOVERED,
          query: ['mailbox', KEPT_FOLDERS, 'all'],
        })
        return { ...kept, restored_to: RECOVERED }
      })
    },
  }
}
