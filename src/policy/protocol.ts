const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const MAX_LINE = 8192
const MAX_REQUEST = 65_536

/** The attributes that are used here, of about thirty that Postfix sends. */
const KEPT = [
  'protocol_state',
  'client_address',
  'sender',
  'recipient',
  'recipient_count',
  'instance',
  'sasl_username',
  'policy_context',
] as const
type Attribute = (typeof KEPT)[number]
const isKept = new Set<string>(KEPT)

export type PolicyRequest = Readonly<Partial<Record<Attribute, string>>>

/** Longer than any request of Postfix. */
export class TooLong extends Error {}

/**
 * Parses `name=value` lines, ended by an empty line, from a stream. Other lines are skipped. Memory
 * is bounded by the size of one request.
 */
export function policyParser(found: (request: PolicyRequest) => void) {
  let rest: Buffer = Buffer.alloc(0)
  let attributes: Partial<Record<Attribute, string>> = {}
  let size = 0

  /** The text is Latin-1, so that offsets in the text and in the bytes are equal. */
  const takeLine = (bytes: Buffer, text: string, start: number, end: number) => {
    const stop = end > start && text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end
    if (stop === start) {
      if (size === 0) return
      const request = attributes
      attributes = {}
      size = 0
      found(request)
      return
    }
    size += stop - start
    if (size > MAX_REQUEST) throw new TooLong('request')
    const split = text.indexOf('=', start)
    if (split === -1 || split >= stop) return
    const name = text.slice(start, split)
    // Decoded from the bytes: a substring would keep the whole text in memory.
    if (isKept.has(name)) attributes[name as Attribute] = bytes.toString('utf8', split + 1, stop)
  }

  return {
    push(chunk: Buffer): void {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const length = bytes.lastIndexOf(LINE_FEED) + 1
      rest = bytes.subarray(length)
      if (rest.length > MAX_LINE) throw new TooLong('line')
      const text = bytes.toString('latin1', 0, length)
      let start = 0
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
        if (at - start > MAX_LINE) throw new TooLong('line')
        takeLine(bytes, text, start, at)
        start = at + 1
      }
    },
    /** A request has begun and has not ended. */
    get isWaiting() {
      return size > 0 || rest.length > 0
    },
  }
}

/** Replaces line breaks and control characters, so that an answer stays on one line. */
export const actionOf = (action: string): string =>
  `action=${action.replace(/[^\x20-\x7e]/g, '?').slice(0, 400)}\n\n`

/**
 * Names the login at the end of a refusal. Postfix 3.7 logs a refusal without the login, so the text
 * is the only way to attribute it; `src/features/mail-log/postfix-line.ts` reads it.
 */
export const withLogin = (action: string, { sasl_username: login }: PolicyRequest): string =>
  login && /^(?:REJECT|DEFER)/.test(action) ? `${action} (login ${login.toLowerCase()})` : action
