import { Readable } from 'node:stream'
import type { ImapFlow } from 'imapflow'
import { type ArchiveWriter, pathPart } from '../../../lib/archive-writer.ts'
import { ImapAway } from '../../../mail/imap-mailbox.ts'

const CHUNK_BYTES = 256 * 1024
// Shared folders hold the mail of other people.
const SHARED = /^shared\//i

/**
 * Adds every message of a mailbox, unchanged, as a file of its own under `prefix`. `hidden` are folders that
 * the server does not list.
 */
export async function addMail(
  client: ImapFlow,
  archive: ArchiveWriter,
  prefix: string,
  hidden: readonly string[],
) {
  const counts = { folders: 0, messages: 0, messages_gone: 0 }
  const listed = (await client.list())
    .filter(({ path, flags }) => !SHARED.test(path) && !flags.has('\\Noselect'))
    .map(({ path }) => path)
  for (const folder of [...listed, ...hidden]) {
    const lock = await client.getMailboxLock(folder, { readOnly: true })
    try {
      counts.folders++
      const path = `${prefix}/${pathPart(folder)}`
      const uids: number[] = []
      await archive.stream(`${path}/index.ndjson`, Readable.from(indexOf(client, uids)))
      for (const uid of uids) {
        const { content } = await client.download(String(uid), undefined, {
          uid: true,
          chunkSize: CHUNK_BYTES,
        })
        // The message was deleted after the index was read.
        if (!content) {
          counts.messages_gone++
          continue
        }
        await archive.stream(`${path}/${uid}.eml`, content)
        counts.messages++
      }
    } finally {
      lock.release()
    }
  }
  // imapflow does not throw when the connection breaks, and a partial mailbox must not pass as complete.
  if (!client.usable) throw new ImapAway('connection lost during the export')
  return counts
}

/** Yields one index line per message, and collects the UIDs in `uids`. */
async function* indexOf(client: ImapFlow, uids: number[]) {
  if (client.mailbox === false || client.mailbox.exists === 0) return
  const fields = { uid: true, flags: true, internalDate: true, size: true }
  for await (const { uid, flags, internalDate, size } of client.fetch('1:*', fields)) {
    uids.push(uid)
    const line = { uid, flags: [...(flags ?? [])], received_at: internalDate, size_bytes: size }
    yield `${JSON.stringify(line)}\n`
  }
}
