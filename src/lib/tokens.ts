import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 32 random bytes, URL-safe: session tokens, CSRF tokens, API keys, bootstrap tokens. */
export const randomToken = (): string => randomBytes(32).toString('base64url')

export const sha256 = (text: string | Buffer): string => hash('sha256', text)

/** Compares in constant time. */
export function sameSecret(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}
