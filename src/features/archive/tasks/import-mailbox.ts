import type { ImapFlow } from 'imapflow'
import type { Core } from '../../../core.ts'
import { joined } from '../../../lib/shared-bytes.ts'
import { ImapAway, withMailbox } from '../../../mail/imap-mailbox.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { keepMail } from '../store/keep-mail.ts'
import type { JobWork } from './job-work.ts'

const SHARED = /^shared\//i
const UNWANTED = new Set(['\\Noselect', '\\NonExistent'])
const UNWANTED_USE = new Set(['\\Junk', '\\Trash', '\\Drafts'])
const REPORTED_EVERY = 20

/**
 * Archives the mail that a mailbox has already, except junk, trash and drafts. A message that is archived
 * is recognized by its content, so an interrupted import goes on after its last folder.
 */
export async function importMailbox(core: Core, { job, report, signal }: JobWork): Promise<void> {
  const email = job.email ?? ''
  const archive = keepMail(core)
  await withMailbox(core, email, async (client) => {
    const folders = await foldersOf(client)
    const statuses = await Promise.all(
      folders.map((path) => client.status(path, { messages: true })),
    )
    const total = statuses.reduce((sum, one) => sum + (one ? (one.messages ?? 0) : 0), 0)
    await report({ total })
    for (const folder of folders.filter((path) => path > job.position)) {
      const lock = await client.getMailboxLock(folder, { readOnly: true })
      try {
        await importFolder(client)
      } finally {
        lock.release()
      }
      await report({ position: folder })
    }
    // imapflow does not throw when the connection breaks.
    if (!client.usable) throw new ImapAway('connection lost during the import')
  })

  async function importFolder(client: ImapFlow): Promise<void> {
    if (client.mailbox === false || client.mailbox.exists === 0) return
    const uids: { uid: number; at: Date | undefined }[] = []
    for await (const { uid, internalDate } of client.fetch('1:*', {
      uid: true,
      internalDate: true,
    })) {
      uids.push({ uid, at: internalDate ? new Date(internalDate) : undefined })
    }
    const counts = { done: 0, added: 0, failed: 0 }
    const flush = async () => {
      await report(counts)
      Object.assign(counts, { done: 0, added: 0, failed: 0 })
    }
    for (const { uid, at } of uids) {
      signal.throwIfAborted()
      counts.done++
      const outcome = await importMessage(client, uid, at)
      if (outcome === 'stored') counts.added++
      if (outcome === undefined) counts.failed++
      if (counts.done === REPORTED_EVERY) await flush()
    }
    await flush()
  }

  /** Undefined for a message that was deleted meanwhile. */
  async function importMessage(client: ImapFlow, uid: number, at: Date | undefined) {
    const { content } = await client.download(String(uid), undefined, { uid: true })
    if (!content) return undefined
    const pieces: Buffer[] = []
    for await (const piece of content) pieces.push(piece as Buffer)
    const message = new MimeMessage(await joined(pieces))
    const [author = ''] = message.summary.from
    const isSent = author === email
    const others = isSent ? addressesOf(message) : []
    const outcome = await archive.keep({
      organizationId: job.organization_id,
      direction: isSent ? 'outbound' : 'inbound',
      sender: author,
      recipients: isSent && others.length > 0 ? others : [email],
      message,
      ...(at && { receivedAt: at }),
    })
    return outcome.status
  }
}

const foldersOf = async (client: ImapFlow): Promise<string[]> =>
  (await client.list())
    .filter(({ path, flags, specialUse }) => {
      const isWanted = ![...flags].some((flag) => UNWANTED.has(flag))
      return isWanted && !SHARED.test(path) && !UNWANTED_USE.has(specialUse ?? '')
    })
    .map(({ path }) => path)
    .sort()

const addressesOf = (message: MimeMessage): string[] =>
  ['to', 'cc', 'bcc'].flatMap((name) =>
    message
      .fields(name)
      .flatMap((text) => text.match(/[^\s<>"(),;:]{1,64}@[^\s<>"(),;:]{1,255}/g) ?? []),
  )
