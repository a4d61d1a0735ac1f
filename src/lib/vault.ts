import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts secrets that must be read again: bodies stored for replay, TOTP secrets, private keys.
 * Each purpose has its own key, so a sealed value cannot be used for another purpose.
 */
export interface Vault {
  seal(purpose: string, plaintext: string): Buffer
  open(purpose: string, sealed: Buffer): string
  /** A keyed hash: it shows that two values are equal, and without the key it cannot be guessed. */
  fingerprint(purpose: string, value: string | Buffer): string
}

export function vault(rootKey: string): Vault {
  // Each use of a key as bytes would cost five times as much.
  const keys = new Map<string, KeyObject>()
  const keyFor = (purpose: string) => {
    let key = keys.get(purpose)
    if (!key) {
      key = createSecretKey(Buffer.from(hkdfSync('sha256', rootKey, 'mailplane', purpose, 32)))
      keys.set(purpose, key)
    }
    return key
  }
  return {
    seal(purpose, plaintext) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce)
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body])
    },
    open(purpose, sealed) {
      if (sealed[0] !== VERSION) throw new Error('sealed value has an unknown version')
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
      // Without a fixed length Node would accept a tag that was cut to four bytes.
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), nonce, {
        authTagLength: TAG_BYTES,
      })
      decipher.setAuthTag(tag)
      const body = sealed.subarray(1 + NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
    fingerprint: (purpose, value) =>
      createHmac('sha256', keyFor(purpose)).update(value).digest('hex'),
  }
}
