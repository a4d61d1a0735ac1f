import { randomFillSync } from 'node:crypto'
import { hmacSha256 } from '../../../lib/hmac.ts'
import { keptResults } from '../../../lib/kept-results.ts'

const TOKEN_BYTES = 32

const hmac = (secret: string, text: string): string =>
  secret === '' ? '' : signingWith(secret)(text, 'hex')

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
  secrets.map((secret) => `v1,${standardSigningWith(secret)(signed, 'base64')}`).join(' ')

const signingWith = keptResults((secret) => hmacSha256(Buffer.from(secret)))

/** What follows `whsec_` is the key in base64; any other secret is the key itself. */
const standardSigningWith = keptResults((secret) => {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4}={0,2})$/.exec(secret)?.[1]
  return hmacSha256(encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64'))
})

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
