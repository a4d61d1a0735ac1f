const LINE_FEED = 10
const MAX_LINE = 8192
const MAX_REQUEST = 65_536

/** Attributes of one request, as Postfix names them. */
export type PolicyRequest = Readonly<Record<string, string | undefined>>

/** More than any request of Postfix has: whoever sends it is not Postfix. */
export class TooLong extends Error {}

/**
 * Reads `name=value` lines, ended by an empty one, from whatever pieces they arrive in. Lines that
 * are none are passed over; no sender can make it hold more than one request of bounded size.
 */
export function policyParser(found: (request: PolicyRequest) => void) {
  let rest: Buffer = Buffer.alloc(0)
  let attributes: Record<string, string> = Object.create(null)
  let size = 0

  const takeLine = (line: string) => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    if (text === '') {
      if (size === 0) return
      const request = attributes
      attributes = Object.create(null)
      size = 0
      found(request)
      return
    }
    size += text.length
    if (size > MAX_REQUEST) throw new TooLong('request')
    const split = text.indexOf('=')
    if (split > 0) attributes[text.slice(0, split)] = text.slice(split + 1)
  }

  return {
    push(chunk: Buffer): void {
      const buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let start = 0
      for (;;) {
        const end = buffer.indexOf(LINE_FEED, start)
        if (end < 0) break
        if (end - start > MAX_LINE) throw new TooLong('line')
        takeLine(buffer.toString('utf8', start, end))
        start = end + 1
      }
      rest = buffer.subarray(start)
      if (rest.length > MAX_LINE) throw new TooLong('line')
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
