export type BounceType = 'HARD' | 'SOFT' | 'BLOCK'

/** Refused for what was sent or who sent it; the address is fine. */
const BLOCKED =
  /spam|block(?:ed|list)|blacklist|reputation|policy|content rejected|dmarc|\bspf\b|dkim/i
const FULL = /\bfull\b|over ?quota|quota exceeded|insufficient storage/i

/**
 * What a failure says about the address, by its status (RFC 3463), else by the code of the reply.
 * Of what is permanent, only that which lies in the address keeps it from being written to again.
 */
export function classOf(status: string, said: string): BounceType {
  const code = /^[45]\.\d{1,3}\.\d{1,3}/.exec(status)?.[0] ?? enhanced(said) ?? ''
  const reply = /\b([45])\d\d\b/.exec(said)?.[1]
  if (code.startsWith('5.7.') || BLOCKED.test(said)) return 'BLOCK'
  if (code === '5.2.2' || FULL.test(said)) return 'SOFT'
  // 5.1.8 and 5.1.7 are about the sender, 5.3 about the host, 5.4 and 5.5 about the way there.
  if (/^5\.[12]\./.test(code)) return /^5\.1\.[78]$/.test(code) ? 'BLOCK' : 'HARD'
  if (code === '5.4.4' || code === '5.0.0' || code === '') {
    return code.startsWith('5') || reply === '5' ? 'HARD' : 'SOFT'
  }
  return 'SOFT'
}

const enhanced = (said: string) => /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(said)?.[0]
