import { domainToASCII } from 'node:url'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { domainOf, localPartOf } from '../lib/mail-address.ts'
import { limiter } from '../lib/mutex.ts'
import { joined } from '../lib/shared-bytes.ts'
import { MINUTE_MS } from '../lib/time.ts'
import type { Log } from '../log.ts'
import { collectPieces } from './pieces.ts'
import {
  type ReceivedMail,
  recipientParameters,
  type SmtpReply,
  senderParameters,
} from './received-mail.ts'

// More than the message size limit of Postfix, with the headers that Postfix adds.
const MAX_BYTES = 54 * 1024 * 1024
const SMALL_BYTES = 1024 * 1024
const LARGE_AT_ONCE = 4
// Stages that decode text need several times the size of a message.
const HUGE_BYTES = 16 * 1024 * 1024
const IDLE_MS = 5 * MINUTE_MS
const CLOSE_MS = 4000

interface Needs {
  filter: (received: ReceivedMail) => Promise<SmtpReply>
  workers: number
  hostname: string
  log: Log
}

/**
 * Speaks SMTP with Postfix. A message is read into memory as a whole, so the number of messages at
 * once is limited, with lower limits for large ones. The others wait in the queue of Postfix.
 */
export function filterServer({ filter, workers, hostname, log }: Needs) {
  const oneOfAll = limiter(workers)
  const oneOfLarge = limiter(LARGE_AT_ONCE)
  const oneHuge = limiter(1)
  const busy = new Set<Promise<void>>()

  async function receive(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
  ): Promise<SmtpReply> {
    const pieces = collectPieces()
    const end = async () => filter(receivedFrom(session, await joined(pieces.take())))
    const iterator = stream[Symbol.asyncIterator]()
    const read = async (atMost: number): Promise<boolean> => {
      while (pieces.size < atMost) {
        const { done, value } = await iterator.next()
        if (done) return true
        pieces.add(value)
      }
      return false
    }
    if (await read(SMALL_BYTES)) return end()
    return oneOfLarge(async () => {
      if (await read(HUGE_BYTES)) return end()
      return oneHuge(async () => {
        if (await read(MAX_BYTES)) return end()
        pieces.take()
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
      const work = oneOfAll(() => receive(stream, session))
        .then(({ code, text }) => {
          if (code < 400) callback(null, text)
          else callback(Object.assign(new Error(text), { responseCode: code }))
        })
        .catch((error) => {
          log.warn({ err: error }, 'connection lost while reading a message')
          callback(Object.assign(new Error('4.3.0 try again later'), { responseCode: 451 }))
        })
        .finally(() => busy.delete(work))
      busy.add(work)
    },
  })
  server.on('error', (error: Error) => log.debug({ err: error }, 'connection from Postfix failed'))

  return {
    server,
    /** Finishes messages that were received; closes idle connections. */
    async stop(): Promise<void> {
      const timeLimit = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())
      if (server.server.listening) server.server.close()
      await Promise.race([Promise.allSettled(busy), timeLimit])
      for (const connection of server.connections) connection.close()
    },
  }
}

function receivedFrom({ envelope, xForward }: SMTPServerSession, raw: Buffer): ReceivedMail {
  const { mailFrom, rcptTo } = envelope
  const forwarded = (name: string) => {
    const value = xForward.get(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  return {
    sender: mailFrom === false ? '' : withALabels(mailFrom.address),
    parameters: senderParameters(mailFrom === false ? false : mailFrom.args),
    recipients: rcptTo.map(({ address, args }) => ({
      address: withALabels(address),
      parameters: recipientParameters(args),
    })),
    client: { ip: forwarded('ADDR'), name: forwarded('NAME'), helo: forwarded('HELO') },
    raw,
  }
}

/**
 * smtp-server turns A-labels (`xn--`) of a domain into Unicode. Postfix takes Unicode only with
 * SMTPUTF8, and domains are stored in A-labels.
 */
function withALabels(address: string): string {
  const domain = domainOf(address)
  if (/^[\x20-\x7e]*$/.test(domain)) return address
  const ascii = domainToASCII(domain)
  return ascii === '' ? address : `${localPartOf(address)}@${ascii}`
}
