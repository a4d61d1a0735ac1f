import type { CurrentMailServers } from './mail-servers.ts'
import { converse } from './smtp-conversation.ts'

const TIMEOUT_MS = 120_000

interface ServiceMail {
  sender: string
  recipient: string
  content: Buffer
}

/** The mail server cannot be reached now, or none is configured. */
export class MailServerAway extends Error {}

export type ServiceConnection = Awaited<ReturnType<typeof connectForServices>>

/**
 * Connects to the listener of Postfix for services of the installation: limits, suppressions and the
 * content filter apply as for the login of the sender.
 */
export async function connectForServices(mailServers: CurrentMailServers) {
  const { MAIL_REINJECT_HOST: host, MAIL_SERVICE_PORT: port } = mailServers.current()
  if (host === undefined) throw new MailServerAway('MAIL_REINJECT_HOST is not set')
  const smtp = converse(host, port, TIMEOUT_MS)
  let isUsable = true

  async function orAway<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      isUsable = false
      smtp.end()
      throw new MailServerAway((error as Error).message)
    }
  }

  async function deliver({ sender, recipient, content }: ServiceMail): Promise<string> {
    for (const command of [`MAIL FROM:<${sender}>`, `RCPT TO:<${recipient}>`]) {
      const reply = await smtp.ask(command)
      if (!reply.startsWith('2')) return reply
    }
    const ready = await smtp.ask('DATA')
    return ready.startsWith('354') ? smtp.data(content) : ready
  }

  await orAway(async () => {
    await smtp.expect('220')
    await smtp.expect('250', 'EHLO mailplane')
  })
  return {
    /** False after an error; the next message needs another connection. */
    get isUsable() {
      return isUsable
    },
    /** Returns the reply that decided. */
    async send(mail: ServiceMail): Promise<string> {
      if ([mail.sender, mail.recipient].some((one) => /[\0\r\n<>\s]/.test(one))) {
        return '553 5.1.3 the address cannot be sent to'
      }
      return orAway(async () => {
        const reply = await deliver(mail)
        // 421: the server closes the connection.
        if (reply.startsWith('421')) isUsable = false
        else if (!reply.startsWith('2')) await smtp.ask('RSET')
        return reply
      })
    },
    end: () => smtp.end(),
  }
}

/** Sends one message over a connection of its own. Returns the reply that decided. */
export async function sendServiceMail(
  mailServers: CurrentMailServers,
  mail: ServiceMail,
): Promise<string> {
  const connection = await connectForServices(mailServers)
  try {
    return await connection.send(mail)
  } finally {
    connection.end()
  }
}
