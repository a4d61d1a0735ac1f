const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const MAX_LINE = 8192
const MAX_REQUEST = 65_536

/** What is asked for here, of the thirty attributes that Postfix sends. */
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

/** More than any request of Postfix has: whoever sends it is not Postfix. */
export class TooLong extends Error {}

/**
 * Reads `name=value` lines, ended by an empty one, from whatever pieces they arrive in. Lines that
 * are none are passed over; no sender can make it hold more than one request of bounded size.
 */
export function policyParser(found: (request: PolicyRequest) => void) {
  let rest: Buffer = Buffer.alloc(0)
  let attributes: Partial<Record<Attribute, string>> = {}
  let size = 0

  /** A line of the text from one place to another; the bytes of both are at the same places. */
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
    // From the bytes: a part of the text would keep all of it in memory for as long as it is known.
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
    /** Somebody has begun a request and not ended it. */
    get isWaiting() {
      return size > 0 || rest.length > 0
    },
  }
}

/** Whatever ends up in an answer stays on its line, and in plain text. */
export const actionOf = (action: string): string =>
  `action=${action.replace(/[^\x20-\x7e]/g, '?').slice(0, 400)}\n\n`
