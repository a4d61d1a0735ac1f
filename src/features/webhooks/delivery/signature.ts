import { createHmac, randomBytes } from 'node:crypto'

const hmac = (secret: string, text: string): string =>
  secret === '' ? '' : createHmac('sha256', secret).update(text).digest('hex')

/** Over the very bytes that are sent; without a secret there is nothing after the equals sign. */
export const bodySignature = (secret: string, body: string): string =>
  `sha256=${hmac(secret, body)}`

/** Made anew for each attempt: receivers refuse a time stamp that is older than 15 minutes. */
export function inlineSignature(secret: string, now: Date) {
  const timestamp = Math.floor(now.getTime() / 1000)
  const token = randomBytes(32).toString('hex')
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

/** What follows `whsec_` is the key in base64; any other secret is the key itself. */
function standardKey(secret: string): Buffer {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4}={0,2})$/.exec(secret)?.[1]
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64')
}
