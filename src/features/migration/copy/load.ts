import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { NewMessage } from '../../../mail/imap/append.ts'
import { fetchMessages, fetchPieces } from '../../../mail/imap/messages.ts'
import { Refused, type Wire } from '../../../mail/imap/wire.ts'
import type { FailedMessage } from './outcome.ts'
import type { Slabs } from './slabs.ts'

/** A message of the source to copy. */
export interface Wanted {
  uid: number
  size: number
  date: Date
  flags: string[]
}

export interface Loaded {
  messages: (NewMessage & { uid: number })[]
  failed: FailedMessage[]
  /** Returns the memory of the messages after they are stored. */
  release?: () => void
  close(): Promise<void>
}

export const LARGE_BYTES = 1024 * 1024
const READ_BYTES = 256 * 1024

interface Options {
  folder: string
  maxBytes: number
  slabs: Slabs
}

/** Fetches messages from the source: small ones into memory, a large one into a file. */
export async function load(wire: Wire, wanted: Wanted[], options: Options): Promise<Loaded> {
  const [first] = wanted
  if (wanted.length === 1 && first && first.size > LARGE_BYTES)
    return loadLarge(wire, first, options)
  const { room, release } = options.slabs.take()
  const sizes = new Map(wanted.map(({ uid, size }) => [uid, size]))
  const bodies = await fetchMessages(wire, sizes, room).catch((error) => {
    if (!(error instanceof Refused)) throw error
    return error
  })
  if (bodies instanceof Refused) return afterRefusal(wire, wanted, options, bodies)
  const messages: Loaded['messages'] = []
  const failed: FailedMessage[] = []
  for (const one of wanted) {
    const body = bodies.get(one.uid)
    if (body) messages.push({ ...one, size: body.length, body })
    else if (await isThere(wire, one.uid)) failed.push(notSent(one.uid))
    // Otherwise the message was deleted in the meantime.
  }
  return { messages, failed, release, close: async () => {} }
}

/** Fetches the messages one by one, so that a single bad message does not block the others. */
async function afterRefusal(
  wire: Wire,
  wanted: Wanted[],
  options: Options,
  { message }: Refused,
): Promise<Loaded> {
  const [first] = wanted
  if (wanted.length === 1 && first) {
    const failed = [{ uid: first.uid, type: 'fetch_refused', detail: message }]
    return { messages: [], failed, close: async () => {} }
  }
  const all: Loaded = { messages: [], failed: [], close: async () => {} }
  for (const one of wanted) {
    const { messages, failed } = await load(wire, [one], options)
    all.messages.push(...messages)
    all.failed.push(...failed)
  }
  return all
}

/** Stores the message in a file, because APPEND needs its exact size before the content. */
async function loadLarge(wire: Wire, wanted: Wanted, options: Options): Promise<Loaded> {
  const file = await namelessFile(options.folder)
  const close = () => file.close()
  let size = 0
  try {
    for await (const piece of fetchPieces(wire, wanted.uid)) {
      size += piece.length
      if (size > options.maxBytes) {
        const detail = `The message has more than ${options.maxBytes} bytes`
        const failed = [{ uid: wanted.uid, type: 'message_too_large', detail }]
        return { messages: [], failed, close }
      }
      await file.write(piece)
    }
  } catch (error) {
    await close()
    if (!(error instanceof Refused)) throw error
    const failed = [{ uid: wanted.uid, type: 'fetch_refused', detail: error.message }]
    return { messages: [], failed, close: async () => {} }
  }
  if (size === 0) {
    const failed = (await isThere(wire, wanted.uid)) ? [notSent(wanted.uid)] : []
    return { messages: [], failed, close }
  }
  return { messages: [{ ...wanted, size, body: () => read(file, size) }], failed: [], close }
}

const notSent = (uid: number): FailedMessage => ({
  uid,
  type: 'fetch_failed',
  detail: 'The server lists the message, but does not send it',
})

async function isThere(wire: Wire, uid: number): Promise<boolean> {
  let isListed = false
  await wire.command([`UID FETCH ${uid} (UID)\r\n`], undefined, ({ text }) => {
    isListed ||= new RegExp(`^\\* \\d+ FETCH .*\\bUID ${uid}\\b`, 'i').test(text)
  })
  return isListed
}

/** A file without a name: the system deletes it when the process ends. */
async function namelessFile(folder: string): Promise<FileHandle> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomUUID())
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Reuses one buffer: the consumer must finish with a piece before it requests the next. */
async function* read(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(READ_BYTES)
  for (let position = 0; position < size; ) {
    const { bytesRead } = await file.read(bytes, 0, READ_BYTES, position)
    if (bytesRead === 0) throw new Error('the spool file of a message is shorter than the message')
    position += bytesRead
    yield bytes.subarray(0, bytesRead)
  }
}
