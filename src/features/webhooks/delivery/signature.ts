import {
  type BinaryToTextEncoding,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

const TOKEN_BYTES = 32

const hmac = (key: string | KeyObject, text: string, encoding: BinaryToTextEncoding): string =>
  createHmac('sha256', key).update(text).digest(encoding)

const hexSignature = (secret: string, text: string): string =>
  secret === '' ? '' : hmac(secret, text, 'hex')

/** The `X-Webhook-Signature` of a body. Without a secret nothing follows the equals sign. */
export const bodySignature = (secret: string, body: string): string =>
  `sha256=${hexSignature(secret, body)}`

/** Made for each attempt: receivers reject a timestamp that is older than 15 minutes. */
export function inlineSignature(secret: string, now: Date) {
  const timestamp = Math.floor(now.getTime() / 1000)
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  return { timestamp, token, signature: hexSignature(secret, `${timestamp}${token}`) }
}

/**
 * The `webhook-signature` of Standard Webhooks: one signature per secret, so that a receiver can
 * verify with any of them while a secret is being rotated.
 */
export const standardSignature = (secrets: readonly string[], signed: string): string =>
  secrets.map((secret) => `v1,${hmac(standardKey(secret), signed, 'base64')}`).join(' ')

/** The text after `whsec_` is the key in base64; any other secret is the key itself. */
function standardKey(secret: string): string | KeyObject {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4}={0,2})$/.exec(secret)?.[1]
  return encoded === undefined ? secret : createSecretKey(encoded, 'base64')
}
