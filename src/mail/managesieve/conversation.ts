import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ConnectionFailed, Refusal } from './errors.ts'
import { inbox } from './inbox.ts'
import { type Answer, answerOf, type Token, tokensOf } from './syntax.ts'

// A script has at most 1 MB; all other answers are much smaller.
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export interface Server {
  host: string
  port: number
  verify: boolean
}

export interface Patience {
  commandMs: number
  /** Time limit of the whole conversation. */
  totalMs?: number
}

export type Conversation = ReturnType<typeof converse>

/** Sends one command at a time, with time and size limits for every answer. */
export function converse({ host, port, verify }: Server, { commandMs, totalMs }: Patience) {
  const end = Date.now() + (totalMs ?? Number.POSITIVE_INFINITY)
  const tcp = connectTcp({ host, port })
  let line = listenTo(tcp)
  let deadline = Math.min(end, Date.now() + commandMs)

  async function item(): Promise<Token[]> {
    const tokens: Token[] = []
    for (;;) {
      const piece = tokensOf(await line.until(deadline, (received) => received.line()))
      tokens.push(...piece.tokens)
      const { literalBytes } = piece
      if (literalBytes === undefined) return tokens
      if (literalBytes > MAX_ANSWER_BYTES) throw new Error('the server announces too much')
      const text = await line.until(deadline, (received) => received.bytes(literalBytes))
      tokens.push({ kind: 'string', text: text.toString('utf8') })
    }
  }

  /** Reads the data lines of one command and its answer. */
  async function answer(command: string): Promise<{ data: Token[][]; answer: Answer }> {
    const data: Token[][] = []
    line.expect()
    for (;;) {
      const tokens = await item()
      const final = answerOf(tokens)
      if (final?.status === 'BYE') throw new Error('the server said goodbye')
      if (final?.status === 'NO') throw new Refusal(command, final.code, final.text)
      if (final) return { data, answer: final }
      data.push(tokens)
    }
  }

  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    deadline = Math.min(end, Date.now() + commandMs)
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refusal) throw error
      tcp.destroy()
      throw new ConnectionFailed((error as Error).message)
    }
  }

  return {
    /** The server sends its capabilities on connect and again after the TLS handshake. */
    greeting: () => guarded(() => answer('greeting')),

    command: (name: string, words: readonly string[] = []) =>
      guarded(() => {
        line.write(`${[name, ...words].join(' ')}\r\n`)
        return answer(name)
      }),

    /** Switches to TLS. RFC 5804 §2.2: the server must not send anything before the handshake. */
    secure: () =>
      guarded(async () => {
        line.detach()
        const secured = connectTls({
          socket: tcp,
          rejectUnauthorized: verify,
          ...(!isIP(host) && { servername: host }),
        })
        let isReady: true | undefined
        secured.once('secureConnect', () => {
          isReady = true
        })
        line = listenTo(secured)
        await line.until(deadline, () => isReady)
      }),

    end() {
      if (!tcp.destroyed) line.write('LOGOUT\r\n')
      line.end()
    },
    abandon: () => tcp.destroy(),
  }
}

function listenTo(socket: Socket) {
  const received = inbox()
  let total = 0
  let failure: Error | undefined
  let wake = () => {}
  const fail = (error: Error) => {
    failure ??= error
    wake()
  }
  const onData = (chunk: Buffer) => {
    total += chunk.length
    if (total > MAX_ANSWER_BYTES) {
      fail(new Error('the server sends too much'))
      socket.destroy()
      return
    }
    received.add(chunk)
    wake()
  }
  socket
    .on('data', onData)
    .on('error', fail)
    .on('close', () => fail(new Error('the server hung up')))
    .on('secureConnect', () => wake())

  const changed = (deadline: number) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('the server is silent')),
        Math.max(0, deadline - Date.now()),
      )
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  return {
    /** Waits until `find` returns a value. Data that arrived before a failure is still read. */
    async until<Value>(
      deadline: number,
      find: (from: typeof received) => Value | undefined,
    ): Promise<Value> {
      for (;;) {
        const value = find(received)
        if (value !== undefined) return value
        if (failure) throw failure
        if (Date.now() >= deadline) throw new Error('the server is silent')
        await changed(deadline)
      }
    },
    /** Resets the size limit for the next answer. */
    expect() {
      total = 0
    },
    write: (text: string) => socket.write(text),
    detach() {
      if (received.size > 0) throw new Error('the server sent plain text into the handshake')
      socket.off('data', onData)
    },
    // end() would wait until the server closes its side too.
    end: () => socket.destroySoon(),
  }
}
