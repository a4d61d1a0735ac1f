import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { limiter } from '../lib/mutex.ts'
import type { Log } from '../log.ts'
import { type Answer, type Arrived, recipientParameters, senderParameters } from './envelope.ts'

// More than Postfix takes, with what it adds.
const MAX_BYTES = 54 * 1024 * 1024
const SMALL_BYTES = 1024 * 1024
const LARGE_AT_ONCE = 4
// Stages that read text need many times the size of a message.
const HUGE_BYTES = 16 * 1024 * 1024
const IDLE_MS = 5 * 60_000
const CLOSE_MS = 4000

interface Needs {
  filter: (arrived: Arrived) => Promise<Answer>
  workers: number
  hostname: string
  log: Log
}

/**
 * Speaks SMTP with Postfix. A message is held in memory as a whole, so only so many are read at
 * once, of large ones only a few, and one of the largest; the others wait on Postfix's disk.
 */
export function filterServer({ filter, workers, hostname, log }: Needs) {
  const oneOfAll = limiter(workers)
  const oneOfLarge = limiter(LARGE_AT_ONCE)
  const oneHuge = limiter(1)
  const busy = new Set<Promise<void>>()

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Answer> {
    const chunks: Buffer[] = []
    const end = async () => {
      const raw = Buffer.concat(chunks)
      chunks.length = 0
      return filter(arrivedFrom(session, raw))
    }
    const iterator = stream[Symbol.asyncIterator]()
    const read = async (atMost: number): Promise<boolean> => {
      let size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
      while (size < atMost) {
        const { done, value } = await iterator.next()
        if (done) return true
        chunks.push(value)
        size += value.length
      }
      return false
    }
    if (await read(SMALL_BYTES)) return end()
    return oneOfLarge(async () => {
      if (await read(HUGE_BYTES)) return end()
      return oneHuge(async () => {
        if (await read(MAX_BYTES)) return end()
        chunks.length = 0
        while (!(await iterator.next()).done);
        return { code: 552, text: '5.3.4 the message is too large' }
      })
    })
  }

  const server = new SMTPServer({
    name: hostname,
    banner: 'content filter',
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    authOptional: true,
    useXForward: true,
    hideDSN: false,
    hidePIPELINING: true,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onData(stream, session, callback) {
      const work = oneOfAll(() => take(stream, session))
        .then(({ code, text }) => {
          if (code < 400) callback(null, text)
          else callback(Object.assign(new Error(text), { responseCode: code }))
        })
        .catch((error) => {
          // Postfix has gone away in the middle; it will say so to its client.
          log.warn({ err: error }, 'a message broke off')
          callback(Object.assign(new Error('4.3.0 try again later'), { responseCode: 451 }))
        })
        .finally(() => busy.delete(work))
      busy.add(work)
    },
  })
  server.on('error', (error: Error) => log.debug({ err: error }, 'a connection of Postfix failed'))

  return {
    server,
    /** What was taken is answered; who only waits is let go. */
    async stop(): Promise<void> {
      const patience = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())
      if (server.server.listening) server.server.close()
      await Promise.race([Promise.allSettled(busy), patience])
      for (const connection of server.connections) connection.close()
    },
  }
}

function arrivedFrom({ envelope, xForward }: SMTPServerSession, raw: Buffer): Arrived {
  const { mailFrom, rcptTo } = envelope
  const told = (name: string) => {
    const value = xForward.get(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  return {
    sender: mailFrom === false ? '' : mailFrom.address,
    parameters: senderParameters(mailFrom === false ? false : mailFrom.args),
    recipients: rcptTo.map(({ address, args }) => ({
      address,
      parameters: recipientParameters(args),
    })),
    client: { address: told('ADDR'), name: told('NAME'), helo: told('HELO') },
    raw,
  }
}
