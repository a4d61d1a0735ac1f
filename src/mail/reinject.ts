import type { Config } from '../config.ts'
import { ServiceUnavailable } from '../errors.ts'
import { converse, withLineEnds } from './smtp-conversation.ts'

const TIMEOUT_MS = 30_000

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
  const smtp = converse(host, port, timeoutMs)
  try {
    await smtp.expect('220')
    const offered = await smtp.expect('250', 'EHLO mailplane')
    // RFC 6152: without it the server may refuse, or spoil, what is not ASCII.
    const body = /^250[- ]8BITMIME/im.test(offered) ? ' BODY=8BITMIME' : ''
    const commands = [
      `MAIL FROM:<${sender}>${body}`,
      ...recipients.map((recipient) => `RCPT TO:<${recipient}>`),
    ]
    for (const command of commands) {
      const reply = await smtp.ask(command)
      if (!reply.startsWith('2')) return { accepted: false, reply }
    }
    const ready = await smtp.ask('DATA')
    if (!ready.startsWith('354')) return { accepted: false, reply: ready }
    const stored = await smtp.data(withLineEnds(content))
    return stored.startsWith('2') ? { accepted: true } : { accepted: false, reply: stored }
  } finally {
    smtp.end()
  }
}
