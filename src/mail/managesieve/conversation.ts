import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ConnectionFailed, Refusal } from './errors.ts'
import { inbox } from './inbox.ts'
import { type Answer, answerOf, type Token, tokensOf } from './syntax.ts'

// A script has up to 1 MB; nothing else comes near it.
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export interface Server {
  host: string
  port: number
  verify: boolean
}

export interface Patience {
  commandMs: number
  /** For the whole conversation, where there is such a limit. */
  totalMs?: number
}

export type Conversation = ReturnType<typeof converse>

/** Commands and answers, one after the other, with a server that may be slow, silent or gone. */
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

  /** Everything up to and including the answer to one command. */
  async function answer(command: string): Promise<{ data: Token[][]; answer: Answer }> {
    const data: Token[][] = []
    line.expect()
    for (;;) {
      const tokens = await item()
      const found = answerOf(tokens)
      if (found?.status === 'BYE') throw new Error('the server said goodbye')
      if (found?.status === 'NO') throw new Refusal(command, found.code, found.text)
      if (found) return { data, answer: found }
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
    /** What the server says unasked: at the beginning, and again once TLS is up. */
    greeting: () => guarded(() => answer('greeting')),

    command: (name: string, words: readonly string[] = []) =>
      guarded(() => {
        line.write(`${[name, ...words].join(' ')}\r\n`)
        return answer(name)
      }),

    /** The rest goes through TLS. RFC 5804 §2.2: nothing may have arrived before the handshake. */
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
    /** Waits until there is enough; what came before a failure is still read. */
    async until<Found>(
      deadline: number,
      find: (from: typeof received) => Found | undefined,
    ): Promise<Found> {
      for (;;) {
        const found = find(received)
        if (found !== undefined) return found
        if (failure) throw failure
        if (Date.now() >= deadline) throw new Error('the server is silent')
        await changed(deadline)
      }
    },
    /** A new answer may be as long as the one before. */
    expect() {
      total = 0
    },
    write: (text: string) => socket.write(text),
    detach() {
      if (received.size > 0) throw new Error('the server sent plain text into the handshake')
      socket.off('data', onData)
    },
    // Not end(), which would wait for the other side to close too.
    end: () => socket.destroySoon(),
  }
}
