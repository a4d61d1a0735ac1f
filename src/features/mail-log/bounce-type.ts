export const BOUNCE_TYPES = ['HARD', 'SOFT', 'BLOCK'] as const
export type BounceType = (typeof BOUNCE_TYPES)[number]

const BLOCK_WORDS =
  /\bspam\b|blocked|black ?list|block ?list|reputation|\bpolicy\b|content rejected|not accepted for policy|\bdmarc\b|\bspf\b/i
const SOFT_WORDS =
  /\bfull\b|over ?quota|quota exceeded|exceeded.*quota|temporar|try (?:again )?later|deferred|timed out/i
const HARD_WORDS =
  /unknown|no such|does not exist|not found|invalid (?:recipient|mailbox|address)|rejected|disabled|inactive|permanent/i
const HARD_CODES = /\b55[0134]\b/
const SOFT_CODES = /\b(?:421|422|45[012])\b/

/**
 * Why a message came back: the address will never work (HARD), not now (SOFT), or the address is well
 * and we are not wanted (BLOCK). The enhanced status (RFC 3463) decides; words only where it is vague.
 * Spam refusals come as 554 too, so they are told before hard bounces.
 */
export function bounceType(dsn: string | null, reason: string): BounceType {
  const [kind, subject, detail] = (dsn ?? '').split('.')
  if (kind === '4') return 'SOFT'
  if (kind === '5' && subject === '1') return detail === '7' || detail === '8' ? 'BLOCK' : 'HARD'
  if (kind === '5' && subject === '2' && detail === '1') return 'HARD'
  if (kind === '5' && subject === '2' && detail === '2') return 'SOFT'
  if (kind === '5' && subject === '7') return 'BLOCK'
  if (BLOCK_WORDS.test(reason)) return 'BLOCK'
  if (SOFT_WORDS.test(reason)) return 'SOFT'
  if (HARD_WORDS.test(reason) || HARD_CODES.test(reason)) return 'HARD'
  return SOFT_CODES.test(reason) ? 'SOFT' : kind === '5' && subject === '4' ? 'HARD' : 'SOFT'
}
