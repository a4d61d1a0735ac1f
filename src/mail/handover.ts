import type { CurrentMailServers } from './mail-servers.ts'
import { type Conversation, converse, xtext } from './smtp-conversation.ts'

// Shorter than the five minutes that Postfix waits for the content filter (smtpd_proxy_timeout).
const TIMEOUT_MS = 120_000

/** The SMTP client that sent the message, as Postfix reported it. */
export interface Client {
  ip?: string | undefined
  name?: string | undefined
  helo?: string | undefined
}

interface HandedOver {
  sender: string
  /** Parameters of MAIL FROM, such as `RET=HDRS`. */
  parameters: readonly string[]
  recipients: readonly { address: string; parameters: readonly string[] }[]
  /** The login to sign the message for; undefined for mail that is not signed. */
  login: string | undefined
  /** True if Postfix must keep the message on hold until it is released. */
  isHeld?: boolean
  client: Client
  content: Buffer
}

/** The reply to the first refused command, or to the whole message. */
export interface Taken {
  accepted: boolean
  reply: string
}

/** Sends filtered mail back to Postfix; throws when the outcome is unknown. */
export type HandOver = (message: HandedOver) => Promise<Taken>

export const handOver =
  (mailServers: CurrentMailServers, timeoutMs = TIMEOUT_MS): HandOver =>
  async (message) => {
    const settings = mailServers.current()
    const host = settings.MAIL_REINJECT_HOST ?? '127.0.0.1'
    const port =
      message.login === undefined ? settings.MAIL_REINJECT_PORT : settings.MAIL_FILTERED_PORT
    const smtp = converse(host, port, timeoutMs)
    try {
      await introduce(smtp, message)
      return await sendMessage(smtp, message)
    } finally {
      smtp.end()
    }
  }

/** The listeners for filtered mail put on hold what comes with this name in EHLO. */
export const HOLD_HELO = 'hold.mailplane'

/** Passes on the original client, which Postfix logs, and the login, for which it signs. */
async function introduce(smtp: Conversation, { client, isHeld, login }: HandedOver): Promise<void> {
  const greeting = `EHLO ${isHeld ? HOLD_HELO : 'mailplane'}`
  await smtp.expect('220')
  await smtp.expect('250', greeting)
  if (login !== undefined) {
    await smtp.expect('220', `XCLIENT LOGIN=${xtext(login)}`)
    await smtp.expect('250', greeting)
  }
  const { ip, name, helo } = client
  const attributes = Object.entries({ NAME: name, ADDR: withFamily(ip), HELO: helo })
    .filter(([, value]) => value)
    .map(([key, value]) => `${key}=${xtext(value ?? '')}`)
  if (attributes.length > 0) await smtp.expect('250', `XFORWARD ${attributes.join(' ')}`)
}

async function sendMessage(smtp: Conversation, message: HandedOver): Promise<Taken> {
  const { sender, parameters, recipients, content } = message
  const suffix = (words: readonly string[]) => words.map((word) => ` ${word}`).join('')
  const commands = [
    `MAIL FROM:<${sender}>${suffix(parameters)}`,
    ...recipients.map((one) => `RCPT TO:<${one.address}>${suffix(one.parameters)}`),
  ]
  if (commands.some((command) => /[\0\r\n]/.test(command))) {
    return { accepted: false, reply: '553 5.1.3 the address cannot be sent to' }
  }
  for (const command of commands) {
    const reply = await smtp.ask(command)
    if (!reply.startsWith('2')) return { accepted: false, reply }
  }
  const ready = await smtp.ask('DATA')
  if (!ready.startsWith('354')) return { accepted: false, reply: ready }
  const reply = await smtp.data(content)
  return { accepted: reply.startsWith('2'), reply }
}

/** XFORWARD marks IPv6 addresses with a prefix. */
const withFamily = (ip: string | undefined) => (ip?.includes(':') ? `IPv6:${ip}` : ip)
