import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Vault } from '../../../lib/vault.ts'

const PURPOSE = 'data export'
const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16

interface SealedFile {
  file_name: string
  file_key: Buffer
  file_nonce: Buffer
  file_tag: Buffer
  file_size: number
}

export const exportsFolder = (dataDir: string) => join(dataDir, 'exports')

/** Suffix of a file that is being written. A cleanup job removes the files of killed processes. */
const UNFINISHED = '.part'

/**
 * Encrypts a stream with a new key and writes it to a private file. The file gets its final name after
 * all of it is on disk.
 */
export async function sealFile(
  dataDir: string,
  vault: Vault,
  name: string,
  content: Readable,
  signal: AbortSignal,
): Promise<SealedFile> {
  const folder = exportsFolder(dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file_name = `${name}.zip.sealed`
  const path = join(folder, file_name)
  const key = randomBytes(32)
  const file_nonce = randomBytes(12)
  const cipher = createCipheriv(ALGORITHM, key, file_nonce)
  let file_size = 0
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      file_size += chunk.length
      done(null, chunk)
    },
  })
  try {
    const file = createWriteStream(path + UNFINISHED, { mode: 0o600, flags: 'w' })
    await pipeline(content, counting, cipher, file, { signal })
    const written = await open(path + UNFINISHED, 'r')
    await written.sync()
    await written.close()
    renameSync(path + UNFINISHED, path)
  } catch (error) {
    rmSync(path + UNFINISHED, { force: true })
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

/** Checks the authentication tag, so that no byte of a changed file is sent. */
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

export function openSealed(dataDir: string, vault: Vault, file: Omit<SealedFile, 'file_size'>) {
  const key = Buffer.from(vault.open(PURPOSE, Buffer.from(file.file_key)), 'base64')
  const decipher = createDecipheriv(ALGORITHM, key, Buffer.from(file.file_nonce), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(Buffer.from(file.file_tag))
  const source = createReadStream(join(exportsFolder(dataDir), file.file_name))
  source.on('error', (error) => decipher.destroy(error))
  decipher.on('close', () => source.destroy())
  return source.pipe(decipher)
}

export function removeSealed(dataDir: string, names: readonly (string | null)[]): void {
  for (const name of names) {
    if (name !== null) rmSync(join(exportsFolder(dataDir), name), { force: true })
  }
}
