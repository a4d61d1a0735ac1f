import { createHmac, createSecretKey, type KeyObject, randomFillSync } from 'node:crypto'

const TOKEN_BYTES = 32
const KEYS = 1000

const hmac = (secret: string, text: string): string =>
  secret === '' ? '' : createHmac('sha256', plainKey(secret)).update(text).digest('hex')

/** Over the very bytes that are sent; without a secret there is nothing after the equals sign. */
export const bodySignature = (secret: string, body: string): string =>
  `sha256=${hmac(secret, body)}`

/** Made anew for each attempt: receivers refuse a time stamp that is older than 15 minutes. */
export function inlineSignature(secret: string, now: Date) {
  const timestamp = Math.floor(now.getTime() / 1000)
  const token = nextToken()
  return { timestamp, token, signature: hmac(secret, `${timestamp}${token}`) }
}

/**
 * The `webhook-signature` of Standard Webhooks: one for each secret, so that a receiver who knows
 * any of them is content.
 */
export const standardSignature = (secrets: readonly string[], signed: string): string =>
  secrets
    .map((secret) => createHmac('sha256', standardKey(secret)).update(signed).digest('base64'))
    .map((digest) => `v1,${digest}`)
    .join(' ')

const plainKey = kept((secret) => Buffer.from(secret))

/** What follows `whsec_` is the key in base64; any other secret is the key itself. */
const standardKey = kept((secret) => {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4}={0,2})$/.exec(secret)?.[1]
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64')
})

/** A key is made once: that costs more than signing with it. */
function kept(bytesOf: (secret: string) => Buffer) {
  const keys = new Map<string, KeyObject>()
  return (secret: string): KeyObject => {
    let key = keys.get(secret)
    if (!key) {
      if (keys.size >= KEYS) keys.clear()
      key = createSecretKey(bytesOf(secret))
      keys.set(secret, key)
    }
    return key
  }
}

const randomness = Buffer.alloc(TOKEN_BYTES * 128)
let used = randomness.length

/** Randomness is asked for in large pieces: each call costs as much as a signature. */
function nextToken(): string {
  if (used === randomness.length) {
    randomFillSync(randomness)
    used = 0
  }
  const token = randomness.toString('hex', used, used + TOKEN_BYTES)
  used += TOKEN_BYTES
  return token
}
