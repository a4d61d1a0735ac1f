import type { Readable, Writable } from 'node:stream'

/** The server said something that makes no sense, too much of it, or nothing any more. */
export class WireBroken extends Error {}

/** The server understood and said no. */
export class Refused extends Error {
  /** As in `[OVERQUOTA]`; empty when it gave none. */
  readonly code: string
  constructor(text: string) {
    super(text.slice(0, 500))
    this.code = /\[([A-Z-]+)/.exec(text)?.[1] ?? ''
  }
}

/** One response: its text without the literals, and the literals. */
export interface Response {
  text: string
  literals: Buffer[]
}

export interface Limits {
  /** Of one literal. */
  literal: number
  /** Of all that comes in answer to one command. */
  answer: number
  /** Memory to put a literal into; what has no room there gets its own. */
  room?: Room
}

export type Room = (bytes: number) => Buffer | undefined

type Piece = string | Buffer | AsyncIterable<Buffer>

const MAX_LINE_BYTES = 256 * 1024
const SILENCE_MS = 60_000
/** For one command, or one piece of a large message: a server that drips is never silent. */
export const COMMAND_MS = 300_000
const LITERAL = /\{(\d{1,10})\}$/

interface Running {
  tag: string
  /** When the server has had time enough. */
  until: number
  limits: Limits
  received: number
  untagged: (response: Response) => void
  resolve: (text: string) => void
  reject: (error: Error) => void
  /** Waits for leave to send a literal. */
  go?: (() => void) | undefined
}

export type Wire = ReturnType<typeof wire>

/**
 * An IMAP connection after its login, for moving messages: one command at a time, answers handed on as
 * they come, and nothing kept beyond what was asked for, whatever the server sends.
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
  let rest: Buffer = Buffer.alloc(0)
  let text = ''
  let literals: Buffer[] = []
  let literal: { bytes: Buffer; filled: number } | undefined
  let drained: (() => void) | undefined

  const timer = setInterval(look, Math.min(SILENCE_MS, commandMs) / 4).unref()
  let heard = Date.now()
  function look() {
    if (!running) return
    if (Date.now() - heard > SILENCE_MS) fail(new WireBroken('the server is silent'))
    if (running && Date.now() > running.until) fail(new WireBroken(tooSlow(commandMs)))
  }

  function fail(error: Error) {
    if (broken) return
    broken = error
    clearInterval(timer)
    destroy()
    drained?.()
    const { reject } = running ?? {}
    running = undefined
    reject?.(error)
  }

  function finish() {
    const response = { text, literals }
    text = ''
    literals = []
    if (!running) {
      if (/^\* BYE/i.test(response.text))
        fail(new WireBroken(`the server hung up: ${response.text}`))
      return
    }
    if (response.text.startsWith('+')) return running.go?.()
    if (!response.text.startsWith(`${running.tag} `)) {
      if (/^\* BYE/i.test(response.text)) {
        return fail(new WireBroken(`the server hung up: ${response.text.slice(0, 200)}`))
      }
      return running.untagged(response)
    }
    const said = response.text.slice(running.tag.length + 1)
    const { resolve, reject } = running
    running = undefined
    if (/^OK\b/i.test(said)) resolve(said)
    else reject(new Refused(said))
  }

  /** A line is complete: it ends the response, or announces a literal. */
  function take(line: string) {
    text += line
    const size = LITERAL.exec(line)?.[1]
    if (size === undefined) return finish()
    const bytes = Number(size)
    if (!running || bytes > running.limits.literal) {
      return fail(new WireBroken(`the server announces ${bytes} bytes that nobody asked for`))
    }
    literal = { bytes: running.limits.room?.(bytes) ?? Buffer.allocUnsafe(bytes), filled: 0 }
    if (bytes === 0) endLiteral()
  }

  function endLiteral() {
    if (literal) literals.push(literal.bytes)
    literal = undefined
  }

  function read(chunk: Buffer) {
    heard = Date.now()
    if (running) {
      running.received += chunk.length
      if (running.received > running.limits.answer) {
        return fail(new WireBroken('the server sends more than it was asked for'))
      }
    }
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    rest = bytes.subarray(bytes.length)
    while (bytes.length > 0 && !broken) {
      if (literal) {
        const taken = bytes.copy(literal.bytes, literal.filled)
        literal.filled += taken
        bytes = bytes.subarray(taken)
        if (literal.filled === literal.bytes.length) endLiteral()
        continue
      }
      const end = bytes.indexOf(10)
      if (end === -1) {
        if (bytes.length + text.length > MAX_LINE_BYTES) {
          return fail(new WireBroken('the server sends a line without end'))
        }
        rest = bytes
        return
      }
      take(bytes.toString('latin1', 0, bytes[end - 1] === 13 ? end - 1 : end))
      bytes = bytes.subarray(end + 1)
      if (text.length > MAX_LINE_BYTES) fail(new WireBroken('the server sends a line without end'))
    }
  }

  input
    .on('data', read)
    .on('error', (error) => fail(new WireBroken(error.message)))
    .on('end', () => fail(new WireBroken('the server hung up')))
    .on('close', () => fail(new WireBroken('the server hung up')))
  output.on('drain', () => drained?.()).on('error', (error) => fail(new WireBroken(error.message)))
  input.resume()

  /** Waits while the server does not take what was sent. */
  async function write(bytes: string | Buffer) {
    if (broken) throw broken
    // What is written in one turn travels together: each call of the system costs, and each record of TLS.
    output.cork()
    const mayGoOn = output.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    process.nextTick(() => output.uncork())
    if (mayGoOn) return
    await new Promise<void>((resolve) => {
      drained = resolve
    })
    drained = undefined
    heard = Date.now()
    if (broken) throw broken
  }

  async function send(pieces: Iterable<Piece>, state: Running) {
    for (const piece of pieces) {
      if (running !== state) return
      if (typeof piece === 'string') {
        // A literal for which leave must be asked ends its line; the others go on at once.
        const asks = /\{\d+\}\r\n$/.test(piece)
        const leave = asks && new Promise<void>((resolve) => (state.go = resolve))
        await write(piece)
        if (leave) await Promise.race([leave, ended(state)])
      } else if (Buffer.isBuffer(piece)) await write(piece)
      else {
        for await (const bytes of piece) {
          await write(bytes)
          state.until = Date.now() + commandMs
        }
      }
    }
  }

  const ends = new WeakMap<Running, Promise<unknown>>()
  const ended = (state: Running) => ends.get(state)

  return {
    /** What follows OK; throws Refused, or WireBroken after which the connection is gone. */
    async command(
      pieces: Iterable<Piece>,
      limits: Limits = { literal: 0, answer: 1024 * 1024 },
      untagged: (response: Response) => void = () => {},
    ): Promise<string> {
      if (broken) throw broken
      if (running) throw new Error('one command at a time')
      const tag = `M${++count}`
      let state: Running | undefined
      const answer = new Promise<string>((resolve, reject) => {
        state = {
          tag,
          until: Date.now() + commandMs,
          limits,
          received: 0,
          untagged,
          resolve,
          reject,
        }
      })
      running = state as unknown as Running
      heard = Date.now()
      const settled = answer.catch(() => undefined)
      ends.set(running, settled)
      await Promise.all([
        settled,
        send(withTag(tag, pieces), running).catch((error) => fail(asError(error))),
      ])
      return answer
    },
    get isBroken() {
      return broken !== undefined
    },
    close: () => fail(new WireBroken('closed')),
  }
}

export const tooSlow = (commandMs: number) =>
  `the server takes more than ${commandMs / 1000} seconds for a command`

function* withTag(tag: string, pieces: Iterable<Piece>): Iterable<Piece> {
  yield `${tag} `
  yield* pieces
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))
