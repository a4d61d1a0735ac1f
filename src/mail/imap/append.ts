import { numbersOf, quoted } from './messages.ts'
import type { Wire } from './wire.ts'

/** A message to store; its body in one piece, or as it comes when it is large. */
export interface NewMessage {
  flags: readonly string[]
  date: Date
  size: number
  body: Buffer | (() => AsyncIterable<Buffer>)
}

export interface Appended {
  validity: number
  /** In the order of the messages; undefined where the server does not tell (no UIDPLUS). */
  uids: number[] | undefined
}

type Appender = Pick<Wire, 'command'> & { capabilities: ReadonlySet<string> }

/** RFC 3502: several messages in one command are stored together, which costs a server far less. */
export const takesMany = ({ capabilities }: Appender): boolean =>
  capabilities.has('MULTIAPPEND') && capabilities.has('LITERAL+')

/**
 * Stores messages, all of them or none. The library waits for the server twice for every message and
 * stores one at a time; this is why it is not used here.
 */
export async function append(
  wire: Appender,
  encodedPath: string,
  messages: readonly NewMessage[],
): Promise<Appended> {
  // RFC 7888: without asking for leave, where the server allows it.
  const plus = wire.capabilities.has('LITERAL+') ? '+' : ''
  const pieces: (string | Buffer | AsyncIterable<Buffer>)[] = []
  let line = `APPEND ${quoted(encodedPath)}`
  for (const { flags, date, size, body } of messages) {
    const shown = flags.filter(isSendable)
    pieces.push(`${line} (${shown.join(' ')}) "${dateTime(date)}" {${size}${plus}}\r\n`)
    pieces.push(Buffer.isBuffer(body) ? body : body())
    line = ''
  }
  pieces.push('\r\n')
  const said = await wire.command(pieces)
  const code = /\[APPENDUID (\d{1,10}) ([\d:,]+)\]/i.exec(said)
  const uids = code && numbersOf(code[2] ?? '', messages.length)
  return {
    validity: Number(code?.[1] ?? 0),
    uids: uids?.length === messages.length ? uids : undefined,
  }
}

/** RFC 3501: \Recent is the server's own; what is no atom cannot be said. */
const isSendable = (flag: string): boolean =>
  !/^\\recent$/i.test(flag) && /^\\?[^\x00-\x20\x7f-\uffff(){%*"\\\]]+$/.test(flag)

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** As APPEND wants it, in UTC: the same moment as the source tells. */
function dateTime(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const day = String(date.getUTCDate()).padStart(2, ' ')
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${time} +0000`
}
