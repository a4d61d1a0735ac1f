import { Readable } from 'node:stream'
import type { ImapFlow } from 'imapflow'
import { ImapAway } from '../../../mail/imap-mailbox.ts'
import { type ArchiveWriter, pathPart } from './archive-writer.ts'

const CHUNK_BYTES = 256 * 1024
// Folders of others that the mailbox may look into; they are not this person's.
const SHARED = /^shared\//i

/** Every message of a mailbox as a file of its own, folder by folder, byte for byte. */
export async function addMail(client: ImapFlow, archive: ArchiveWriter) {
  const counts = { folders: 0, messages: 0, messages_gone: 0 }
  for (const folder of await client.list()) {
    if (SHARED.test(folder.path) || folder.flags.has('\\Noselect')) continue
    const lock = await client.getMailboxLock(folder.path, { readOnly: true })
    try {
      counts.folders++
      const place = `mail/${pathPart(folder.path)}`
      const uids: number[] = []
      await archive.stream(`${place}/index.ndjson`, Readable.from(indexOf(client, uids)))
      for (const uid of uids) {
        const { content } = await client.download(String(uid), undefined, {
          uid: true,
          chunkSize: CHUNK_BYTES,
        })
        // Somebody deleted it while we were at work.
        if (!content) {
          counts.messages_gone++
          continue
        }
        await archive.stream(`${place}/${uid}.eml`, content)
        counts.messages++
      }
    } finally {
      lock.release()
    }
  }
  // The library answers with what it has when the connection breaks; half a mailbox is no export.
  if (!client.usable) throw new ImapAway('the connection broke')
  return counts
}

/** What is known about each message beside itself; notes down which there are. */
async function* indexOf(client: ImapFlow, uids: number[]) {
  if (client.mailbox === false || client.mailbox.exists === 0) return
  const wanted = { uid: true, flags: true, internalDate: true, size: true }
  for await (const { uid, flags, internalDate, size } of client.fetch('1:*', wanted)) {
    uids.push(uid)
    const line = { uid, flags: [...(flags ?? [])], received_at: internalDate, size_bytes: size }
    yield `${JSON.stringify(line)}\n`
  }
}
