import type { Readable, Writable } from 'node:stream'
import { MINUTE_MS } from '../../lib/time.ts'

/** The server broke the protocol, exceeded a limit, or closed the connection. */
export class WireBroken extends Error {}

/** The server answered NO or BAD. */
export class Refused extends Error {
  /** The response code, such as `OVERQUOTA`; empty when there is none. */
  readonly code: string
  constructor(text: string) {
    super(text.slice(0, 500))
    this.code = /\[([A-Z-]+)/.exec(text)?.[1] ?? ''
  }
}

/** One response, with the literals cut out of its text. */
export interface Response {
  text: string
  literals: Buffer[]
}

export interface Limits {
  /** Maximum bytes of one literal. */
  literal: number
  /** Maximum bytes of all responses to one command. */
  answer: number
  /** Provides memory for a literal; undefined allocates a new buffer. */
  room?: Room
}

export type Room = (bytes: number) => Buffer | undefined

type Piece = string | Buffer | AsyncIterable<Buffer>

const MAX_LINE_BYTES = 256 * 1024
const SILENCE_MS = MINUTE_MS
/** Time limit of one command, or of one piece of a large message. */
export const COMMAND_MS = 300_000
const LITERAL = /\{(\d{1,10})\}$/
const SYNCHRONIZING = /\{\d+\}\r\n$/
const ENDLESS_LINE = 'the server sends a line without end'

interface Running {
  tag: string
  /** The deadline, in milliseconds since the epoch. */
  until: number
  limits: Limits
  received: number
  untagged: (response: Response) => void
  resolve: (text: string) => void
  reject: (error: Error) => void
  /** Called when the server permits a synchronizing literal. */
  proceed?: (() => void) | undefined
  /** Resolves when the command has ended in either way. */
  settled: Promise<unknown>
}

export type Wire = ReturnType<typeof wire>

/**
 * An IMAP connection after its login, for copying messages. It runs one command at a time, passes
 * responses on as they arrive, and limits the memory that a hostile server can make it use.
 */
export function wire(
  input: Readable,
  output: Writable,
  destroy: () => void,
  commandMs = COMMAND_MS,
) {
  let running: Running | undefined
  let broken: Error | undefined
  let count = 0
  let lastActivity = Date.now()
  let onDrained: (() => void) | undefined
  const parse = responseParser(respond, () => running?.limits)
  const timer = setInterval(checkTime, Math.min(SILENCE_MS, commandMs) / 4).unref()

  function checkTime() {
    if (!running) return
    if (Date.now() - lastActivity > SILENCE_MS) fail(new WireBroken('the server is silent'))
    if (running && Date.now() > running.until) fail(new WireBroken(tooSlow(commandMs)))
  }

  function fail(error: Error) {
    if (broken) return
    broken = error
    clearInterval(timer)
    destroy()
    onDrained?.()
    const { reject } = running ?? {}
    running = undefined
    reject?.(error)
  }

  function receive(chunk: Buffer) {
    if (broken) return
    lastActivity = Date.now()
    try {
      if (running) {
        running.received += chunk.length
        if (running.received > running.limits.answer) {
          throw new WireBroken('the server sends more than it was asked for')
        }
      }
      parse(chunk)
    } catch (error) {
      fail(asError(error))
    }
  }

  function respond(response: Response) {
    const { text } = response
    const isTagged = running && text.startsWith(`${running.tag} `)
    if (!isTagged && /^\* BYE/i.test(text)) {
      throw new WireBroken(`the server hung up: ${text.slice(0, 200)}`)
    }
    if (!running) return
    if (text.startsWith('+')) return running.proceed?.()
    if (!isTagged) return running.untagged(response)
    const result = text.slice(running.tag.length + 1)
    const { resolve, reject } = running
    running = undefined
    if (/^OK\b/i.test(result)) resolve(result)
    else reject(new Refused(result))
  }

  input
    .on('data', receive)
    .on('error', (error) => fail(new WireBroken(error.message)))
    .on('end', () => fail(new WireBroken('the server hung up')))
    .on('close', () => fail(new WireBroken('the server hung up')))
  output
    .on('drain', () => onDrained?.())
    .on('error', (error) => fail(new WireBroken(error.message)))
  input.resume()

  /** Waits while the output buffer is full. */
  async function write(bytes: string | Buffer) {
    if (broken) throw broken
    // Joins the writes of one tick, which saves system calls and TLS records.
    output.cork()
    const hasRoom = output.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    process.nextTick(() => output.uncork())
    if (hasRoom) return
    await new Promise<void>((resolve) => {
      onDrained = resolve
    })
    onDrained = undefined
    lastActivity = Date.now()
    if (broken) throw broken
  }

  async function send(pieces: Iterable<Piece>, command: Running) {
    for (const piece of pieces) {
      if (running !== command) return
      if (typeof piece === 'string') {
        // After `{size}` the server must permit the literal; after `{size+}` it follows at once.
        const permission =
          SYNCHRONIZING.test(piece) && new Promise<void>((resolve) => (command.proceed = resolve))
        await write(piece)
        if (permission) await Promise.race([permission, command.settled])
      } else if (Buffer.isBuffer(piece)) await write(piece)
      else {
        for await (const bytes of piece) {
          await write(bytes)
          command.until = Date.now() + commandMs
        }
      }
    }
  }

  return {
    /** Returns the text of the OK response; throws `Refused`, or `WireBroken`, which is final. */
    async command(
      pieces: Iterable<Piece>,
      limits: Limits = { literal: 0, answer: 1024 * 1024 },
      untagged: (response: Response) => void = () => {},
    ): Promise<string> {
      if (broken) throw broken
      if (running) throw new Error('one command at a time')
      const tag = `M${++count}`
      const { promise: answer, resolve, reject } = pending<string>()
      const settled = answer.catch(() => undefined)
      const until = Date.now() + commandMs
      const command = { tag, until, limits, received: 0, untagged, resolve, reject, settled }
      running = command
      lastActivity = Date.now()
      await Promise.all([
        settled,
        send(withTag(tag, pieces), command).catch((error) => fail(asError(error))),
      ])
      return answer
    },
    get isBroken() {
      return broken !== undefined
    },
    close: () => fail(new WireBroken('closed')),
  }
}

/** Cuts the bytes of a server into responses; throws `WireBroken` when they exceed a limit. */
function responseParser(
  respond: (response: Response) => void,
  limitsNow: () => Limits | undefined,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let text = ''
  let literals: Buffer[] = []
  let literal: { bytes: Buffer; filled: number } | undefined

  /** A complete line ends the response or announces a literal. */
  function endLine(line: string) {
    text += line
    const size = LITERAL.exec(line)?.[1]
    if (size !== undefined) return startLiteral(Number(size))
    const response = { text, literals }
    text = ''
    literals = []
    respond(response)
  }

  function startLiteral(bytes: number) {
    if (text.length > MAX_LINE_BYTES) throw new WireBroken(ENDLESS_LINE)
    const limits = limitsNow()
    if (!limits || bytes > limits.literal) {
      throw new WireBroken(`the server announces ${bytes} bytes that were not requested`)
    }
    literal = { bytes: limits.room?.(bytes) ?? Buffer.allocUnsafe(bytes), filled: 0 }
    if (bytes === 0) endLiteral()
  }

  function endLiteral() {
    if (literal) literals.push(literal.bytes)
    literal = undefined
  }

  return (chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    rest = bytes.subarray(bytes.length)
    while (bytes.length > 0) {
      if (literal) {
        const copied = bytes.copy(literal.bytes, literal.filled)
        literal.filled += copied
        bytes = bytes.subarray(copied)
        if (literal.filled === literal.bytes.length) endLiteral()
        continue
      }
      const end = bytes.indexOf(10)
      if (end === -1) {
        if (bytes.length + text.length > MAX_LINE_BYTES) throw new WireBroken(ENDLESS_LINE)
        rest = bytes
        return
      }
      endLine(bytes.toString('latin1', 0, bytes[end - 1] === 13 ? end - 1 : end))
      bytes = bytes.subarray(end + 1)
    }
  }
}

export const tooSlow = (commandMs: number) =>
  `the server takes more than ${commandMs / 1000} seconds for a command`

function* withTag(tag: string, pieces: Iterable<Piece>): Iterable<Piece> {
  yield `${tag} `
  yield* pieces
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

/** `Promise.withResolvers`, which Node 20 does not have. */
function pending<Value>() {
  let resolve: (value: Value) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
