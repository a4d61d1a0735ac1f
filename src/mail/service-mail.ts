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

/**
 * Sends mail over the listener of Postfix for services of the installation: limits, suppressions and
 * the content filter apply as for the login of the sender. Returns the reply that decided.
 */
export async function sendServiceMail(
  mailServers: CurrentMailServers,
  { sender, recipient, content }: ServiceMail,
): Promise<string> {
  const { MAIL_REINJECT_HOST: host, MAIL_SERVICE_PORT: port } = mailServers.current()
  if (host === undefined) throw new MailServerAway('MAIL_REINJECT_HOST is not set')
  if ([sender, recipient].some((one) => /[\0\r\n<>\s]/.test(one))) {
    return '553 5.1.3 the address cannot be sent to'
  }
  const smtp = converse(host, port, TIMEOUT_MS)
  try {
    await smtp.expect('220')
    await smtp.expect('250', 'EHLO mailplane')
    for (const command of [`MAIL FROM:<${sender}>`, `RCPT TO:<${recipient}>`]) {
      const reply = await smtp.ask(command)
      if (!reply.startsWith('2')) return reply
    }
    const ready = await smtp.ask('DATA')
    return ready.startsWith('354') ? await smtp.data(content) : ready
  } catch (error) {
    throw new MailServerAway((error as Error).message)
  } finally {
    smtp.end()
  }
}
