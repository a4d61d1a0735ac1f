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
