import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

const MAX_REPLY_BYTES = 64 * 1024

export type Conversation = ReturnType<typeof converse>

/** A minimal SMTP client: sends commands and returns complete, possibly multi-line, replies. */
export function converse(host: string, port: number, timeoutMs: number) {
  const socket = connect({ host, port })
  let received = ''
  let failure: Error | undefined
  let wake = () => {}
  let writeOn = () => {}
  const fail = (error: Error) => {
    failure ??= error
    socket.destroy()
    wake()
    writeOn()
  }
  socket.on('drain', () => writeOn())
  socket.setTimeout(timeoutMs, () => fail(new Error('no answer in time')))
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  socket.setEncoding('utf8').on('data', (text: unknown) => {
    received += text
    if (received.length > MAX_REPLY_BYTES) fail(new Error('the reply is too long'))
    wake()
  })

  async function reply(): Promise<string> {
    for (;;) {
      const whole = /^(?:\d{3}-.*\r?\n)*\d{3}(?: .*)?\r?\n/.exec(received)
      if (whole) {
        received = received.slice(whole[0].length)
        return whole[0].trim()
      }
      if (failure) throw failure
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const ask = (command: string) => {
    socket.write(`${command}\r\n`)
    return reply()
  }

  return {
    reply,
    ask,
    /** Throws unless the reply begins with the code. */
    async expect(code: string, command?: string): Promise<string> {
      const answer = await (command === undefined ? reply() : ask(command))
      if (!answer.startsWith(code)) throw new Error(`the server says ${answer}`)
      return answer
    },
    /** Sends the message after DATA was accepted. Converts line ends to CR LF if asked to. */
    async data(content: Buffer, lineEnds: 'kept' | 'converted' = 'kept'): Promise<string> {
      for (const block of blocksOf(content, lineEnds)) {
        const isFull = !socket.write(block)
        if (failure) throw failure
        if (isFull) {
          await new Promise<void>((resolve) => {
            writeOn = resolve
          })
        }
        // While the receiver keeps up, the socket drains within the same turn of the event loop.
        await nextTurn()
      }
      return reply()
    },
    end() {
      socket.end('QUIT\r\n')
      socket.destroySoon()
    },
    destroy: () => socket.destroy(),
  }
}

const BLOCK_BYTES = 256 * 1024
const DOT = 46
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/**
 * RFC 5321 §4.5.2: doubles a dot at the start of a line. A message of 50 MB goes out in blocks, so
 * that other work is done between them. latin1 keeps every byte.
 */
function* blocksOf(content: Buffer, lineEnds: 'kept' | 'converted'): Generator<Buffer> {
  const isConverted = lineEnds === 'converted'
  const isLineStart = (at: number) =>
    at === 0 ||
    (content[at - 1] === LINE_FEED && (isConverted || content[at - 2] === CARRIAGE_RETURN))
  let start = 0
  while (start < content.length) {
    let end = Math.min(start + BLOCK_BYTES, content.length)
    // Keep CR LF together.
    if (content[end - 1] === CARRIAGE_RETURN && end < content.length) end++
    const text = content.toString('latin1', start, end)
    const lines = isConverted ? text.replace(/\r?\n/g, '\r\n') : text
    const first = content[start] === DOT && isLineStart(start) ? '.' : ''
    yield Buffer.from(first + lines.replaceAll('\r\n.', '\r\n..'), 'latin1')
    start = end
  }
  yield Buffer.from(isLineStart(content.length) ? '.\r\n' : '\r\n.\r\n')
}

/** RFC 3461 §4: encodes all bytes but printable ASCII without `+` and `=` in hexadecimal. */
export const xtext = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte < 0x21 || byte > 0x7e || byte === 0x2b || byte === 0x3d
        ? `+${byte.toString(16).toUpperCase().padStart(2, '0')}`
        : String.fromCharCode(byte),
    )
    .join('')
