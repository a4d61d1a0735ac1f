import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { bech32Decode, bech32Encode } from './bech32.ts'
import { breather } from './breather.ts'

// The format of https://age-encryption.org/v1, with X25519 recipients only.
const VERSION = 'age-encryption.org/v1'
const X25519 = `${VERSION}/X25519`
const CIPHER = 'chacha20-poly1305'
const TAG_BYTES = 16
const KEY_BYTES = 32
const FILE_KEY_BYTES = 16
const NONCE_BYTES = 16
const CHUNK_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 64 * 1024
const SPKI = Buffer.from('302a300506032b656e032100', 'hex')
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex')
const ZERO_NONCE = Buffer.alloc(12)

/** The public part of a key: it seals and cannot open. */
export interface AgeRecipient {
  text: string
  raw: Buffer
  key: KeyObject
}

/** The private part of a key. */
export interface AgeIdentity {
  text: string
  recipient: AgeRecipient
  key: KeyObject
}

/** The bytes are no age file, were changed, or are sealed for others. */
export class CannotOpen extends Error {}

/** The file is for other identities. */
export class NoIdentityFits extends CannotOpen {}

/** Undefined for a text that is no X25519 recipient such as `age1…`. */
export function readRecipient(text: string): AgeRecipient | undefined {
  const read = bech32Decode(text)
  if (read?.prefix !== 'age' || read.bytes.length !== KEY_BYTES) return undefined
  return { text: text.toLowerCase(), raw: read.bytes, key: publicKey(read.bytes) }
}

/** Undefined for a text that is no identity such as `AGE-SECRET-KEY-1…`. */
export function readIdentity(text: string): AgeIdentity | undefined {
  const read = bech32Decode(text)
  if (read?.prefix !== 'age-secret-key-' || read.bytes.length !== KEY_BYTES) return undefined
  const der = Buffer.concat([PKCS8, read.bytes])
  return identityOf(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

export const newIdentity = (): AgeIdentity => identityOf(generateKeyPairSync('x25519').privateKey)

function identityOf(key: KeyObject): AgeIdentity {
  const raw = rawOf(createPublicKey(key))
  const secret = key.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8.length)
  return {
    key,
    text: bech32Encode('age-secret-key-', secret).toUpperCase(),
    recipient: { text: bech32Encode('age', raw), raw, key: publicKey(raw) },
  }
}

/** Seals bytes for all recipients. Long ones are sealed in steps between which other work runs. */
export async function ageSeal(recipients: readonly AgeRecipient[], plain: Buffer): Promise<Buffer> {
  const fileKey = randomBytes(FILE_KEY_BYTES)
  const stanzas = recipients.map((recipient) => stanzaFor(recipient, fileKey))
  const header = `${VERSION}\n${stanzas.join('')}---`
  const mac = macOf(fileKey, Buffer.from(header))
  const nonce = randomBytes(NONCE_BYTES)
  const key = derived(fileKey, nonce, 'payload')
  const out: Buffer[] = [Buffer.from(`${header} ${unpadded(mac)}\n`), nonce]
  const breathe = breather()
  for (let at = 0, chunk = 0; ; chunk++, at += CHUNK_BYTES) {
    const isLast = at + CHUNK_BYTES >= plain.length
    out.push(seal(key, chunkNonce(chunk, isLast), plain.subarray(at, at + CHUNK_BYTES)))
    if (isLast) return Buffer.concat(out)
    await breathe()
  }
}

/** Opens sealed bytes with the first identity that fits; throws `CannotOpen`. */
export async function ageOpen(identities: readonly AgeIdentity[], file: Buffer): Promise<Buffer> {
  const { header, mac, stanzas, payload } = readHeader(file)
  const fileKey = fileKeyOf(identities, stanzas)
  if (!fileKey) throw new NoIdentityFits('no identity fits')
  const expected = macOf(fileKey, header)
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    throw new CannotOpen('the header was changed')
  }
  if (payload.length < NONCE_BYTES + TAG_BYTES) throw new CannotOpen('the file is cut off')
  const key = derived(fileKey, payload.subarray(0, NONCE_BYTES), 'payload')
  const boxes = payload.subarray(NONCE_BYTES)
  const step = CHUNK_BYTES + TAG_BYTES
  const out: Buffer[] = []
  const breathe = breather()
  for (let at = 0, chunk = 0; ; chunk++, at += step) {
    const isLast = at + step >= boxes.length
    const plain = open(key, chunkNonce(chunk, isLast), boxes.subarray(at, at + step))
    // Only an empty file may end with an empty chunk.
    if (!plain || (plain.length === 0 && chunk > 0)) {
      throw new CannotOpen('the file was changed or cut off')
    }
    out.push(plain)
    if (isLast) return Buffer.concat(out)
    await breathe()
  }
}

interface Stanza {
  args: string[]
  body: Buffer
}

function stanzaFor({ raw, key }: AgeRecipient, fileKey: Buffer): string {
  const ephemeral = generateKeyPairSync('x25519')
  const share = rawOf(ephemeral.publicKey)
  const secret = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: key })
  const wrapping = derived(secret, Buffer.concat([share, raw]), X25519)
  return `-> X25519 ${unpadded(share)}\n${unpadded(seal(wrapping, ZERO_NONCE, fileKey))}\n`
}

function fileKeyOf(identities: readonly AgeIdentity[], stanzas: readonly Stanza[]) {
  for (const { args, body } of stanzas) {
    if (args[0] !== 'X25519') continue
    const share = base64(args[1] ?? '')
    if (args.length !== 2 || share?.length !== KEY_BYTES) throw new CannotOpen('a bad recipient')
    if (body.length !== FILE_KEY_BYTES + TAG_BYTES) throw new CannotOpen('a bad recipient')
    for (const identity of identities) {
      const salt = Buffer.concat([share, identity.recipient.raw])
      const wrapping = derived(sharedSecret(identity, share), salt, X25519)
      const fileKey = open(wrapping, ZERO_NONCE, body)
      if (fileKey) return fileKey
    }
  }
  return undefined
}

function sharedSecret(identity: AgeIdentity, share: Buffer): Buffer {
  try {
    return diffieHellman({ privateKey: identity.key, publicKey: publicKey(share) })
  } catch {
    // A share of low order.
    throw new CannotOpen('a bad recipient')
  }
}

/** Reads the header strictly: what another program would read differently is refused. */
function readHeader(file: Buffer) {
  const lines: string[] = []
  let at = 0
  const next = () => {
    const end = file.subarray(0, MAX_HEADER_BYTES).indexOf(0x0a, at)
    if (end === -1) throw new CannotOpen('no age file')
    const line = file.toString('latin1', at, end)
    at = end + 1
    lines.push(line)
    return line
  }
  if (next() !== VERSION) throw new CannotOpen('no age file')
  const stanzas: Stanza[] = []
  for (;;) {
    const start = at
    const line = next()
    if (line.startsWith('--- ')) {
      const mac = base64(line.slice(4))
      if (!mac || stanzas.length === 0) throw new CannotOpen('no age file')
      return { header: file.subarray(0, start + 3), mac, stanzas, payload: file.subarray(at) }
    }
    const args = line.split(' ')
    if (args.shift() !== '->' || args.length === 0 || args.some((one) => !/^[!-~]+$/.test(one))) {
      throw new CannotOpen('no age file')
    }
    let body = ''
    for (let length = 64; length === 64; ) {
      const piece = next()
      length = piece.length
      if (length > 64) throw new CannotOpen('no age file')
      body += piece
    }
    const bytes = base64(body)
    if (!bytes) throw new CannotOpen('no age file')
    stanzas.push({ args, body: bytes })
  }
}

const publicKey = (raw: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' })
/** As a JWK, which takes a tenth of the time of an export in DER. */
const rawOf = (key: KeyObject): Buffer =>
  Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')
/** Undefined unless the text is what `unpadded` writes. */
const base64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  return unpadded(bytes) === text ? bytes : undefined
}

/** Keys are `KeyObject`s: a key in a `Buffer` doubles the time of each short operation. */
const derived = (secret: Buffer, salt: Buffer, info: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', createSecretKey(secret), salt, info, KEY_BYTES)))
const macOf = (fileKey: Buffer, header: Buffer): Buffer =>
  createHmac('sha256', derived(fileKey, Buffer.alloc(0), 'header'))
    .update(header)
    .digest()

function chunkNonce(chunk: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(chunk, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

function seal(key: KeyObject, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(key: KeyObject, nonce: Buffer, box: Buffer): Buffer | undefined {
  if (box.length < TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(box.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(box.subarray(0, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
