import type { ImapFlow } from 'imapflow'
import type { Core } from '../../../core.ts'
import { joined } from '../../../lib/shared-bytes.ts'
import { ImapAway, withMailbox } from '../../../mail/imap-mailbox.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { keepMail } from '../store/keep-mail.ts'
import type { JobWork } from './job-work.ts'
import type { UnfinishedFolder } from './jobs.repository.ts'

const SHARED = /^shared\//i
const UNWANTED = new Set(['\\Noselect', '\\NonExistent'])
const UNWANTED_USE = new Set(['\\Junk', '\\Trash', '\\Drafts'])
const REPORTED_EVERY = 20

/**
 * Archives the mail that a mailbox has already, except junk, trash and drafts. An interrupted import goes
 * on after its last message. A message that is archived is recognized by its content.
 */
export async function importMailbox(core: Core, { job, report, signal }: JobWork): Promise<void> {
  const email = job.email ?? ''
  const archive = keepMail(core)
  let finished = job.done
  await withMailbox(core, email, async (client) => {
    const folders = (await foldersOf(client)).filter((path) => path > job.position)
    const sizes = await Promise.all(
      folders.map(async (path) => {
        const status = await client.status(path, { messages: true })
        return status ? (status.messages ?? 0) : 0
      }),
    )
    for (const [index, folder] of folders.entries()) {
      const later = sizes.slice(index + 1).reduce((sum, size) => sum + size, 0)
      const lock = await client.getMailboxLock(folder, { readOnly: true })
      try {
        await importFolder(client, folder, later)
      } finally {
        lock.release()
      }
      await report({ position: folder })
    }
    // imapflow does not throw when the connection breaks.
    if (!client.usable) throw new ImapAway('connection lost during the import')
  })

  async function importFolder(client: ImapFlow, path: string, later: number): Promise<void> {
    if (client.mailbox === false) return
    const uid_validity = String(client.mailbox.uidValidity)
    const after = lastUidIn(job.unfinished_folder, path, uid_validity)
    const messages = client.mailbox.exists === 0 ? [] : await messagesOf(client, after)
    await report({ total: finished + messages.length + later })
    const counts = { done: 0, added: 0, failed: 0 }
    let last_uid = 0
    const flush = async () => {
      if (counts.done === 0) return
      await report({ ...counts, unfinished_folder: { path, uid_validity, last_uid } })
      finished += counts.done
      Object.assign(counts, { done: 0, added: 0, failed: 0 })
    }
    try {
      for (const { uid, at } of messages) {
        signal.throwIfAborted()
        const outcome = await importMessage(client, uid, at)
        counts.done++
        if (outcome === 'stored') counts.added++
        if (outcome === undefined) counts.failed++
        last_uid = uid
        if (counts.done === REPORTED_EVERY) await flush()
      }
    } finally {
      await flush()
    }
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
      isImport: true,
      ...(at && { receivedAt: at }),
    })
    return outcome.status
  }
}

/** The last message that was imported from the folder; 0 when there is none. */
const lastUidIn = (
  unfinished: UnfinishedFolder | null,
  path: string,
  uidValidity: string,
): number =>
  unfinished?.path === path && unfinished.uid_validity === uidValidity ? unfinished.last_uid : 0

async function messagesOf(client: ImapFlow, afterUid: number) {
  const messages: { uid: number; at: Date | undefined }[] = []
  const found = client.fetch(`${afterUid + 1}:*`, { uid: true, internalDate: true }, { uid: true })
  for await (const { uid, internalDate } of found) {
    // The range also names the last message when it is older (RFC 3501 6.4.8).
    if (uid <= afterUid) continue
    messages.push({ uid, at: internalDate ? new Date(internalDate) : undefined })
  }
  return messages.sort((a, b) => a.uid - b.uid)
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
