import { createCipheriv, createECDH, ECDH, hkdfSync, randomBytes } from 'node:crypto'

const CURVE = 'prime256v1'
const RECORD_BYTES = 4096
const PUBLIC_KEY_BYTES = 65
const SECRET_BYTES = 16
const LAST_RECORD = 2

/** The keys of a receiver, base64url. */
export interface PushKeys {
  p256dh: string
  auth: string
}

export function arePushKeys(value: unknown): value is PushKeys {
  const { p256dh, auth } = (value ?? {}) as Partial<PushKeys>
  if (typeof p256dh !== 'string' || typeof auth !== 'string') return false
  const isLong = (text: string, bytes: number) => Buffer.from(text, 'base64url').length === bytes
  return isLong(p256dh, PUBLIC_KEY_BYTES) && isLong(auth, SECRET_BYTES) && isPoint(p256dh)
}

function isPoint(key: string): boolean {
  try {
    ECDH.convertKey(key, CURVE, 'base64url')
    return true
  } catch {
    return false
  }
}

/** RFC 8291: encrypts a push message, so that the push service between cannot read it. */
export function encryptPush(text: string, { p256dh, auth }: PushKeys): Buffer {
  const receiver = Buffer.from(p256dh, 'base64url')
  const own = createECDH(CURVE)
  const sender = own.generateKeys()
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, sender])
  const secret = own.computeSecret(receiver)
  const material = derived(secret, Buffer.from(auth, 'base64url'), info, 32)
  const salt = randomBytes(SECRET_BYTES)
  const key = derived(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derived(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const size = Buffer.alloc(4)
  size.writeUInt32BE(RECORD_BYTES)
  return Buffer.concat([
    salt,
    size,
    Buffer.from([sender.length]),
    sender,
    cipher.update(text, 'utf8'),
    cipher.update(Buffer.from([LAST_RECORD])),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

const derived = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))
