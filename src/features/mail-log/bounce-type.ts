const BOUNCE_TYPES = ['HARD', 'SOFT', 'BLOCK'] as const
export type BounceType = (typeof BOUNCE_TYPES)[number]

const BLOCK_WORDS =
  /\bspam\b|blocked|black ?list|block ?list|reputation|\bpolicy\b|content rejected|not accepted for policy|\bdmarc\b|\bspf\b/i
const SOFT_WORDS =
  /\bfull\b|over ?quota|quota exceeded|exceeded.*quota|temporar|try (?:again )?later|deferred|timed out/i
const HARD_WORDS =
  /unknown|no such|does not exist|not found|invalid (?:recipient|mailbox|address)|rejected|disabled|inactive|permanent/i
const DOMAIN_WORDS =
  /(?:host|domain)(?: or domain)?(?: name)? not found|\bnxdomain\b|no such domain/i
const HARD_CODES = /\b55[0134]\b/

/**
 * Classifies a bounce: the address never works (HARD), does not work now (SOFT), or works but the
 * server blocks us (BLOCK). The enhanced status code (RFC 3463) decides; the text only if it is vague.
 * BLOCK is tested before HARD, because servers also reject spam with 554. A domain or a route that
 * is not found says nothing about the mailbox: DNS records come back.
 */
export function bounceType(dsn: string | null, reason: string): BounceType {
  const [kind, subject, detail] = (dsn ?? '').split('.')
  if (kind === '4') return 'SOFT'
  if (kind === '5' && (subject === '4' || (subject === '1' && detail === '2'))) return 'SOFT'
  if (kind === '5' && subject === '1') return detail === '7' || detail === '8' ? 'BLOCK' : 'HARD'
  if (kind === '5' && subject === '2' && detail === '1') return 'HARD'
  if (kind === '5' && subject === '2' && detail === '2') return 'SOFT'
  if (kind === '5' && subject === '7') return 'BLOCK'
  if (BLOCK_WORDS.test(reason)) return 'BLOCK'
  if (SOFT_WORDS.test(reason) || DOMAIN_WORDS.test(reason)) return 'SOFT'
  if (HARD_WORDS.test(reason) || HARD_CODES.test(reason)) return 'HARD'
  return 'SOFT'
}
