import type { Config } from '../config.ts'
import { type Conversation, converse, xtext } from './smtp-conversation.ts'

// Postfix itself waits for five minutes for whoever has asked for this.
const TIMEOUT_MS = 120_000

/** Who brought a message, as Postfix was told. */
export interface Client {
  address?: string | undefined
  name?: string | undefined
  helo?: string | undefined
}

export interface HandedOver {
  sender: string
  /** Behind MAIL FROM, such as `RET=HDRS`. */
  parameters: readonly string[]
  recipients: readonly { address: string; parameters: readonly string[] }[]
  /** Signed for this login; undefined: not signed. */
  login: string | undefined
  client: Client
  content: Buffer
}

/** The reply to the first command that was not accepted, else to the whole message. */
export interface Taken {
  accepted: boolean
  reply: string
}

/** Hands filtered mail back to Postfix; throws when nobody knows whether it was taken. */
export type HandOver = (message: HandedOver) => Promise<Taken>

type Settings = Pick<Config, 'MAIL_REINJECT_HOST' | 'MAIL_REINJECT_PORT' | 'MAIL_FILTERED_PORT'>

export const handOver =
  (config: Settings, timeoutMs = TIMEOUT_MS): HandOver =>
  async (message) => {
    // Read now: a private edge may have come up since the start.
    const host = config.MAIL_REINJECT_HOST ?? '127.0.0.1'
    const port = message.login === undefined ? config.MAIL_REINJECT_PORT : config.MAIL_FILTERED_PORT
    const smtp = converse(host, port, timeoutMs)
    try {
      await introduce(smtp, message)
      return await give(smtp, message)
    } finally {
      smtp.end()
    }
  }

/** Postfix logs the client that was, and signs for the login. */
async function introduce(smtp: Conversation, { client, login }: HandedOver): Promise<void> {
  await smtp.expect('220')
  await smtp.expect('250', 'EHLO mailplane')
  if (login !== undefined) {
    await smtp.expect('220', `XCLIENT LOGIN=${xtext(login)}`)
    await smtp.expect('250', 'EHLO mailplane')
  }
  const { address, name, helo } = client
  const known = Object.entries({ NAME: name, ADDR: withFamily(address), HELO: helo })
    .filter(([, value]) => value)
    .map(([key, value]) => `${key}=${xtext(value ?? '')}`)
  if (known.length > 0) await smtp.expect('250', `XFORWARD ${known.join(' ')}`)
}

async function give(smtp: Conversation, message: HandedOver): Promise<Taken> {
  const { sender, parameters, recipients, content } = message
  const said = (words: readonly string[]) => words.map((word) => ` ${word}`).join('')
  const commands = [
    `MAIL FROM:<${sender}>${said(parameters)}`,
    ...recipients.map((one) => `RCPT TO:<${one.address}>${said(one.parameters)}`),
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

/** As Postfix writes addresses in XFORWARD. */
const withFamily = (address: string | undefined) =>
  address?.includes(':') ? `IPv6:${address}` : address
