const MARK = '[redacted]'

// Repetitions are bounded, because log lines can contain arbitrary input (ReDoS).
const NAMED =
  /([\w-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|private[_-]?key|credential|cookie)[\w-]{0,40}"?\s{0,3}[:=]\s{0,3}"?)[^\s",;}]+/gi
const HEADER = /\b((?:proxy-)?authorization"?\s{0,3}[:=]\s{0,3}"?)(?:[a-z]+\s+)?[^\s",;}]+/gi
const BEARER = /\b(bearer\s+)[\w.~+/=-]+/gi
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g
const HEX = /\b[0-9a-f]{32,}\b/gi
const BASE64URL = /[\w-]{40,}/g

/** Replaces everything that looks like a secret. Ids of 26 to 30 characters and paths stay readable. */
export const redactText = (text: string): string =>
  text
    .replace(HEADER, `$1${MARK}`)
    .replace(BEARER, `$1${MARK}`)
    .replace(NAMED, `$1${MARK}`)
    .replace(JWT, MARK)
    .replace(HEX, MARK)
    .replace(BASE64URL, MARK)
