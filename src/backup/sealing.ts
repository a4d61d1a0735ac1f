import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { StartupError } from '../startup-error.ts'

const MAGIC = Buffer.from('MAILPLANE BACKUP 1\n')
const SALT_BYTES = 16
const TAG_BYTES = 16
const CHUNK_BYTES = 1024 * 1024
const HEAD_BYTES = 5
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 128 * 1024 * 1024 }

const keyOf = (passphrase: string, salt: Buffer) =>
  scryptSync(passphrase.normalize('NFC'), salt, 32, SCRYPT)

/** The nonce numbers the chunks, so that a removed or moved chunk fails to decrypt. */
const nonceOf = (index: number) => {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(index), 4)
  return nonce
}

/** Encrypts a stream with a key derived from the passphrase; the last chunk is marked. */
export async function* seal(bytes: AsyncIterable<Buffer>, passphrase: string) {
  const salt = randomBytes(SALT_BYTES)
  const key = keyOf(passphrase, salt)
  yield Buffer.concat([MAGIC, salt])
  let index = 0
  const chunk = (plain: Buffer, isLast: boolean) => {
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt8(isLast ? 1 : 0)
    head.writeUInt32BE(plain.length + TAG_BYTES, 1)
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index++))
    cipher.setAAD(head)
    return Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }
  let waiting: Buffer[] = []
  let size = 0
  for await (const piece of bytes) {
    waiting.push(piece)
    size += piece.length
    if (size < CHUNK_BYTES) continue
    yield chunk(Buffer.concat(waiting), false)
    waiting = []
    size = 0
  }
  yield chunk(Buffer.concat(waiting), true)
}

/** Decrypts a stream; throws when the passphrase is wrong or the data was changed or cut off. */
export async function* unseal(bytes: AsyncIterable<Buffer>, passphrase: string) {
  const read = reader(bytes)
  const magic = await read(MAGIC.length)
  if (!magic?.equals(MAGIC)) throw new StartupError('this is no backup of Mailplane')
  const key = keyOf(passphrase, (await read(SALT_BYTES)) ?? Buffer.alloc(SALT_BYTES))
  for (let index = 0; ; index++) {
    const head = await read(HEAD_BYTES)
    const length = head?.readUInt32BE(1) ?? 0
    const isSane = length >= TAG_BYTES && length <= 64 * CHUNK_BYTES
    const body = isSane ? await read(length) : undefined
    if (!head || !body) throw new StartupError('the backup is cut off or damaged')
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(head)
    decipher.setAuthTag(body.subarray(length - TAG_BYTES))
    try {
      const plain = decipher.update(body.subarray(0, length - TAG_BYTES))
      decipher.final()
      yield plain
    } catch {
      throw new StartupError(
        index === 0 ? 'the passphrase is wrong, or the backup is damaged' : 'the backup is damaged',
      )
    }
    if (head.readUInt8() !== 1) continue
    if (await read(1)) throw new StartupError('there is something behind the end of the backup')
    return
  }
}

/** Returns a function that reads exactly `count` bytes; undefined at the end of the stream. */
export function reader(bytes: AsyncIterable<Buffer>) {
  const source = bytes[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  return async (count: number): Promise<Buffer | undefined> => {
    const pieces = [held]
    let size = held.length
    while (size < count) {
      const { value, done } = await source.next()
      if (done) {
        held = Buffer.concat(pieces)
        return undefined
      }
      pieces.push(value)
      size += value.length
    }
    const all = pieces.length === 1 ? held : Buffer.concat(pieces)
    held = all.subarray(count)
    return all.subarray(0, count)
  }
}
