import { numbersOf, quoted } from './messages.ts'
import type { Wire } from './wire.ts'

/** A message to store. A large body is given as a stream. */
export interface NewMessage {
  flags: readonly string[]
  date: Date
  size: number
  body: Buffer | (() => AsyncIterable<Buffer>)
}

export interface Appended {
  validity: number
  /** In the order of the messages; undefined when the server does not support UIDPLUS. */
  uids: number[] | undefined
}

type Appender = Pick<Wire, 'command'> & { capabilities: ReadonlySet<string> }

/** RFC 3502: storing several messages in one command is much cheaper for the server. */
export const takesMany = ({ capabilities }: Appender): boolean =>
  capabilities.has('MULTIAPPEND') && capabilities.has('LITERAL+')

/**
 * Stores all messages or none. imapflow is not used here because it stores one message at a time,
 * with two round trips each.
 */
export async function append(
  wire: Appender,
  encodedPath: string,
  messages: readonly NewMessage[],
): Promise<Appended> {
  // RFC 7888: a non-synchronizing literal saves a round trip.
  const plus = wire.capabilities.has('LITERAL+') ? '+' : ''
  const pieces: (string | Buffer | AsyncIterable<Buffer>)[] = []
  let line = `APPEND ${quoted(encodedPath)}`
  for (const { flags, date, size, body } of messages) {
    const sendable = flags.filter(isSendable)
    pieces.push(`${line} (${sendable.join(' ')}) "${dateTime(date)}" {${size}${plus}}\r\n`)
    pieces.push(Buffer.isBuffer(body) ? body : body())
    line = ''
  }
  pieces.push('\r\n')
  const reply = await wire.command(pieces)
  const code = /\[APPENDUID (\d{1,10}) ([\d:,]+)\]/i.exec(reply)
  const uids = code && numbersOf(code[2] ?? '', messages.length)
  return {
    validity: Number(code?.[1] ?? 0),
    uids: uids?.length === messages.length ? uids : undefined,
  }
}

/** RFC 3501: only the server sets \Recent, and a flag must be an atom. */
const isSendable = (flag: string): boolean =>
  !/^\\recent$/i.test(flag) && /^\\?[^\x00-\x20\x7f-\uffff(){%*"\\\]]+$/.test(flag)

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** The date-time of RFC 3501 §9, in UTC. */
function dateTime(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const day = String(date.getUTCDate()).padStart(2, ' ')
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${time} +0000`
}
