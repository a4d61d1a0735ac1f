import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Core } from '../../../core.ts'
import { deleteParts, insertPart, partOf } from './export-parts.repository.ts'

const PURPOSE = 'data export'
const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16
const PART_BYTES = 1024 * 1024

type Needs = Pick<Core, 'db' | 'vault'>

interface SealedArchive {
  file_name: string
  file_key: Buffer
  file_nonce: Buffer
  file_tag: Buffer
  file_size: number
}

/** Encrypts a stream with a new key and stores it in parts, which belong to one attempt. */
export async function sealArchive(
  { db, vault }: Needs,
  { exportId, attempt }: { exportId: string; attempt: string },
  content: Readable,
  signal: AbortSignal,
): Promise<SealedArchive> {
  const file_name = `${exportId}-${attempt}.zip.sealed`
  const key = randomBytes(32)
  const file_nonce = randomBytes(12)
  const cipher = createCipheriv(ALGORITHM, key, file_nonce)
  let file_size: number
  try {
    file_size = await pipeline(
      content,
      cipher,
      (sealed: AsyncIterable<Buffer>) => storeParts(db, file_name, exportId, sealed),
      { signal },
    )
  } catch (error) {
    await deleteParts(db, [file_name]).catch(() => {
      // The job that removes abandoned parts finds them.
    })
    throw error
  }
  return {
    file_name,
    // The vault seals text only.
    file_key: vault.seal(PURPOSE, key.toString('base64')),
    file_nonce,
    file_tag: cipher.getAuthTag(),
    file_size,
  }
}

/** Returns the number of bytes, which is the same encrypted and not. */
export async function storeParts(
  db: Core['db'],
  file_name: string,
  export_id: string,
  bytes: AsyncIterable<Buffer>,
): Promise<number> {
  let size = 0
  let number = 0
  for await (const content of inParts(bytes)) {
    await insertPart(db, { file_name, number, export_id, content })
    size += content.length
    number++
  }
  return size
}

async function* inParts(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const chunk of bytes) {
    waiting.push(chunk)
    size += chunk.length
    if (size < PART_BYTES) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}

/** Checks the authentication tag, so that no byte of a changed archive is sent. */
export async function isIntact(...args: Parameters<typeof openSealed>): Promise<boolean> {
  try {
    for await (const _ of openSealed(...args)) {
      // The tag is verified at the end of the stream.
    }
    return true
  } catch {
    return false
  }
}

export function openSealed({ db, vault }: Needs, file: Omit<SealedArchive, 'file_size'>): Readable {
  const key = Buffer.from(vault.open(PURPOSE, Buffer.from(file.file_key)), 'base64')
  const decipher = createDecipheriv(ALGORITHM, key, Buffer.from(file.file_nonce), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(Buffer.from(file.file_tag))
  const source = Readable.from(partsOf(db, file.file_name), { objectMode: false })
  source.on('error', (error) => decipher.destroy(error))
  decipher.on('close', () => source.destroy())
  return source.pipe(decipher)
}

async function* partsOf(db: Core['db'], fileName: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number++) {
    const part = await partOf(db, fileName, number)
    if (part === undefined) return
    yield Buffer.from(part)
  }
}
