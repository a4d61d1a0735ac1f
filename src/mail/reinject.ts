import { ServiceUnavailable } from '../errors.ts'
import type { CurrentMailServers } from './mail-servers.ts'
import { ORIGIN_HEADER, RELEASED_ORIGIN } from './origin.ts'
import { type Conversation, converse, xtext } from './smtp-conversation.ts'

const TIMEOUT_MS = 30_000
const FILTER_PORT = 10025

type Reinjected = { accepted: true } | { accepted: false; reply: string }

/** Sends a quarantined message to the listener of the mail server for filtered mail. */
export interface Reinject {
  /** Throws when MAIL_REINJECT_HOST is not set. */
  check(): void
  /**
   * Throws when the outcome is unknown; `reply` is the reason of a refusal. Outgoing mail names its
   * login and is signed for it. `isFiltered` is for a recipient whose organization has not seen the
   * message yet: it passes the content filter, without the stages of the sender.
   */
  send(message: Released): Promise<Reinjected>
}

interface Released {
  sender: string
  recipient: string
  content: Buffer
  login?: string | null
  isFiltered?: boolean
}

interface Needs {
  mailServers: CurrentMailServers
  filterHost: string
  originKey: string
}

export function reinject(
  { mailServers, filterHost, originKey }: Needs,
  timeoutMs = TIMEOUT_MS,
): Reinject {
  const check = () => {
    if (mailServers.current().MAIL_REINJECT_HOST === undefined) {
      throw new ServiceUnavailable('Releasing is not configured; set MAIL_REINJECT_HOST')
    }
  }
  return {
    check,
    async send(message) {
      check()
      const { sender, recipient, login, isFiltered } = message
      if ([sender, recipient, login ?? ''].some((one) => /[\0\r\n<>]/.test(one))) {
        return { accepted: false, reply: 'the address cannot be sent to' }
      }
      try {
        const settings = mailServers.current()
        const { MAIL_REINJECT_HOST: host = '', MAIL_REINJECT_PORT: port } = settings
        if (login && isFiltered) {
          const origin = `${ORIGIN_HEADER}: ${originKey} ${RELEASED_ORIGIN} ${login}\r\n`
          const content = Buffer.concat([Buffer.from(origin), message.content])
          const place = { host: filterHost, port: settings.CONTENT_FILTER_PORT ?? FILTER_PORT }
          return await deliver(place, { ...message, content, login: null })
        }
        return await deliver({ host, port: login ? settings.MAIL_FILTERED_PORT : port }, message)
      } catch {
        throw new ServiceUnavailable('Mail server unavailable')
      }
    },
  }

  async function deliver({ host, port }: { host: string; port: number }, message: Released) {
    const smtp = converse(host, port, timeoutMs)
    try {
      return await sendMessage(smtp, message)
    } finally {
      smtp.end()
    }
  }
}

async function sendMessage(
  smtp: Conversation,
  { sender, recipient, content, login }: Released,
): Promise<Reinjected> {
  await smtp.expect('220')
  let extensions = await smtp.expect('250', 'EHLO mailplane')
  if (login) {
    await smtp.expect('220', `XCLIENT LOGIN=${xtext(login)}`)
    extensions = await smtp.expect('250', 'EHLO mailplane')
  }
  // RFC 6152: without BODY=8BITMIME the server may refuse or change non-ASCII content.
  const body = /^250[- ]8BITMIME/im.test(extensions) ? ' BODY=8BITMIME' : ''
  for (const command of [`MAIL FROM:<${sender}>${body}`, `RCPT TO:<${recipient}>`]) {
    const reply = await smtp.ask(command)
    if (!reply.startsWith('2')) return { accepted: false, reply }
  }
  const ready = await smtp.ask('DATA')
  if (!ready.startsWith('354')) return { accepted: false, reply: ready }
  const stored = await smtp.data(content, 'converted')
  return stored.startsWith('2') ? { accepted: true } : { accepted: false, reply: stored }
}
