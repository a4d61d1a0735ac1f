import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 32 random bytes, URL-safe: session tokens, CSRF tokens, API keys, bootstrap tokens. */
export const randomToken = (): string => randomBytes(32).toString('base64url')

export const sha256 = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex')

/** Compares without telling how far two strings agree. */
export function sameSecret(one: string, other: string): boolean {
  const a = createHash('sha256').update(one).digest()
  const b = createHash('sha256').update(other).digest()
  return timingSafeEqual(a, b)
}
