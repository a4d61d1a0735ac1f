import { connect, type Socket } from 'node:net'
import type { Config } from '../config.ts'
import { ServiceUnavailable } from '../errors.ts'

const TIMEOUT_MS = 30_000
const MAX_REPLY_BYTES = 64 * 1024

export type Reinjected = { accepted: true } | { accepted: false; reply: string }

/** Hands a message that was held back to the mail server, where mail comes in that was filtered. */
export interface Reinject {
  /** Throws when there is no such mail server. */
  check(): void
  /** Throws when nobody knows whether it was taken; `reply` is why it was not. */
  send(sender: string, recipients: readonly string[], content: Buffer): Promise<Reinjected>
}

export function reinject(
  config: Pick<Config, 'MAIL_REINJECT_HOST' | 'MAIL_REINJECT_PORT'>,
  timeoutMs = TIMEOUT_MS,
): Reinject {
  const check = () => {
    if (config.MAIL_REINJECT_HOST === undefined) {
      throw new ServiceUnavailable('Releasing is not configured; set MAIL_REINJECT_HOST')
    }
  }
  return {
    check,
    async send(sender, recipients, content) {
      check()
      if ([sender, ...recipients].some((address) => /[\0\r\n<>]/.test(address))) {
        return { accepted: false, reply: 'the address cannot be sent to' }
      }
      try {
        // Read now: a private edge may have come up since the start.
        const { MAIL_REINJECT_HOST: host = '', MAIL_REINJECT_PORT: port } = config
        return await talk(host, port, timeoutMs, sender, recipients, content)
      } catch {
        throw new ServiceUnavailable('Mail server unavailable')
      }
    },
  }
}

async function talk(
  host: string,
  port: number,
  timeoutMs: number,
  sender: string,
  recipients: readonly string[],
  content: Buffer,
): Promise<Reinjected> {
  const socket = connect({ host, port })
  const replies = repliesOf(socket, timeoutMs)
  const ask = async (command: string | Buffer) => {
    socket.write(command)
    return replies.next()
  }
  try {
    await expectCode(await replies.next(), '220')
    const offered = await ask('EHLO mailplane\r\n')
    await expectCode(offered, '250')
    // RFC 6152: without it the server may refuse, or spoil, what is not ASCII.
    const body = /^250[- ]8BITMIME/im.test(offered) ? ' BODY=8BITMIME' : ''
    const commands = [
      `MAIL FROM:<${sender}>${body}\r\n`,
      ...recipients.map((recipient) => `RCPT TO:<${recipient}>\r\n`),
    ]
    for (const command of commands) {
      const reply = await ask(command)
      if (!reply.startsWith('2')) return { accepted: false, reply }
    }
    const ready = await ask('DATA\r\n')
    if (!ready.startsWith('354')) return { accepted: false, reply: ready }
    const stored = await ask(asData(content))
    if (!stored.startsWith('2')) return { accepted: false, reply: stored }
    socket.end('QUIT\r\n')
    return { accepted: true }
  } finally {
    socket.destroySoon()
  }
}

async function expectCode(reply: string, code: string): Promise<void> {
  if (!reply.startsWith(code)) throw new Error(`the server says ${reply}`)
}

/** RFC 5321 §4.5.2: lines end with CRLF, and a dot that begins one is doubled. */
function asData(content: Buffer): Buffer {
  const text = content.toString('latin1').replace(/\r?\n/g, '\r\n')
  // Not with the flag `m`, to which a carriage return alone ends a line too.
  const lines = text.replace(/(^|\r\n)\./g, '$1..')
  const ended = lines.endsWith('\r\n') || lines === '' ? lines : `${lines}\r\n`
  return Buffer.from(`${ended}.\r\n`, 'latin1')
}

/** Whole replies, of all their lines. */
function repliesOf(socket: Socket, timeoutMs: number) {
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
  return {
    async next(): Promise<string> {
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
    },
  }
}
