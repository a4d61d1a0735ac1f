/** Reads an e-mail address as Postfix logs it: a local part with special characters is quoted. */
export function readAddress(
  text: string,
  start: number,
): { address: string; end: number } | undefined {
  let at = start
  if (text.charCodeAt(at) === QUOTE) {
    at = closingQuote(text, at + 1)
    if (at === -1) return undefined
  }
  const end = text.indexOf('>', at)
  return end === -1 ? undefined : { address: text.slice(start, end), end: end + 1 }
}

const QUOTE = 34
const BACKSLASH = 92

/** The offset after the closing quote; -1 if there is none. */
function closingQuote(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at + 1
  }
  return -1
}

interface LoggedEnvelope {
  /** The offset of `; from=<`. */
  start: number
  sender: string
  recipient: string | undefined
}

const START = '; from=<'

/**
 * Finds the `; from=<…> to=<…> proto=… helo=<…>` at the end of a line. The text before it comes from
 * remote servers and may contain such an envelope too, but not at the end of the line. The addresses
 * at the end are quoted, and Postfix allows no `<` in the helo name, so neither can be forged.
 */
export function envelopeAtEnd(text: string): LoggedEnvelope | undefined {
  const end = endOfAddresses(text)
  for (let start = text.indexOf(START); start !== -1; start = text.indexOf(START, start + 1)) {
    const envelope = envelopeBetween(text, start, end)
    if (envelope) return envelope
  }
  return undefined
}

function endOfAddresses(text: string): number {
  const helo = text.lastIndexOf(' helo=<')
  const isHelo = helo !== -1 && text.indexOf('>', helo) === text.length - 1
  const beforeHelo = isHelo ? helo : text.length
  const proto = text.lastIndexOf(' proto=', beforeHelo)
  const isProto = proto !== -1 && /^ proto=\w+,?$/.test(text.slice(proto, beforeHelo))
  const end = isProto ? proto : beforeHelo
  // postscreen separates the fields with commas.
  return text.charAt(end - 1) === ',' ? end - 1 : end
}

function envelopeBetween(text: string, start: number, end: number): LoggedEnvelope | undefined {
  const from = readAddress(text, start + START.length)
  if (!from || !isWhole(from.address)) return undefined
  if (from.end === end) return { start, sender: from.address, recipient: undefined }
  const next = text.charAt(from.end) === ',' ? from.end + 1 : from.end
  if (!text.startsWith(' to=<', next)) return undefined
  const to = readAddress(text, next + 5)
  if (!to || to.end !== end || !isWhole(to.address)) return undefined
  return { start, sender: from.address, recipient: to.address }
}

/** Returns whether only a domain follows a quoted local part. */
const isWhole = (address: string): boolean =>
  !address.startsWith('"') || /^"(?:[^"\\]|\\.)*"(?:@[^\s"<>@]*)?$/.test(address)
