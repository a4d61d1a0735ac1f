import { connect } from 'node:net'

const MAX_REPLY_BYTES = 64 * 1024

export type Conversation = ReturnType<typeof converse>

/** A client's side of SMTP: what is said, and whole replies, of all their lines. */
export function converse(host: string, port: number, timeoutMs: number) {
  const socket = connect({ host, port })
  let received = ''
  let failure: Error | undefined
  let wake = () => {}
  const fail = (error: Error) => {
    failure ??= error
    socket.destroy()
    wake()
  }
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
    /** The message, after DATA was allowed. */
    data(content: Buffer): Promise<string> {
      for (const piece of dotted(content)) socket.write(piece)
      return reply()
    },
    end() {
      socket.end('QUIT\r\n')
      socket.destroySoon()
    },
    destroy: () => socket.destroy(),
  }
}

const DOT = Buffer.from('.')
const DOT_AFTER_LINE = Buffer.from('\r\n.')

/** RFC 5321 §4.5.2: a dot that begins a line is doubled. In pieces, as a message may be large. */
function* dotted(content: Buffer): Generator<Buffer> {
  if (content[0] === DOT[0]) yield DOT
  let start = 0
  for (;;) {
    const at = content.indexOf(DOT_AFTER_LINE, start)
    if (at === -1) break
    yield content.subarray(start, at + DOT_AFTER_LINE.length)
    yield DOT
    start = at + DOT_AFTER_LINE.length
  }
  yield content.subarray(start)
  const isEnded = content.length === 0 || content.subarray(-2).equals(Buffer.from('\r\n'))
  yield Buffer.from(isEnded ? '.\r\n' : '\r\n.\r\n')
}

/** Every line ends with CR LF, and no byte is lost. */
export const withLineEnds = (content: Buffer): Buffer =>
  Buffer.from(content.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')

/** RFC 3461 §4: everything but printable ASCII without `+` and `=`, in hexadecimal. */
export const xtext = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte < 0x21 || byte > 0x7e || byte === 0x2b || byte === 0x3d
        ? `+${byte.toString(16).toUpperCase().padStart(2, '0')}`
        : String.fromCharCode(byte),
    )
    .join('')
