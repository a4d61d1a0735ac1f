import type { Core } from '../../../core.ts'
import { type Conversation, converse } from '../../../mail/smtp-conversation.ts'
import { headersOf, isHeaderTooLong, withHeaders } from '../../../mime/headers.ts'
import { JmapError } from '../core/errors.ts'

const TIMEOUT_MS = 60_000

export interface Envelope {
  mailFrom: string
  rcptTo: string[]
}

export type Sender = ReturnType<typeof senderOver>

/**
 * Sends mail over the listener of Postfix for services of the installation: limits, suppressions and
 * the content filter apply as for the login of the sender.
 */
export function senderOver({ mailServers }: Pick<Core, 'mailServers'>) {
  return {
    /** Returns the reply of the server; throws a `JmapError` when it refuses the message. */
    async send({ mailFrom, rcptTo }: Envelope, raw: Buffer): Promise<string> {
      const { MAIL_REINJECT_HOST: host, MAIL_SERVICE_PORT: port } = mailServers.current()
      if (host === undefined) {
        throw new JmapError('forbiddenToSend', {
          description: 'Sending is not configured; set MAIL_REINJECT_HOST',
        })
      }
      if (isHeaderTooLong(raw)) throw new JmapError('invalidEmail', { properties: ['headers'] })
      const content = await withoutBcc(raw)
      const smtp = converse(host, port, TIMEOUT_MS)
      try {
        return await deliver(smtp, { mailFrom, rcptTo }, content)
      } catch (error) {
        if (error instanceof JmapError) throw error
        throw new JmapError('serverUnavailable', {
          description: 'The mail server cannot be reached',
        })
      } finally {
        smtp.end()
      }
    },
  }
}

/** RFC 8621 section 7.5: recipients must not see it. */
const withoutBcc = (raw: Buffer): Promise<Buffer> =>
  withHeaders(
    raw,
    headersOf(raw).filter(({ name }) => name !== 'bcc'),
  )

async function deliver(smtp: Conversation, { mailFrom, rcptTo }: Envelope, content: Buffer) {
  await smtp.expect('220')
  const extensions = await smtp.expect('250', 'EHLO mailplane')
  const body = /^250[- ]8BITMIME/im.test(extensions) ? ' BODY=8BITMIME' : ''
  const sender = await smtp.ask(`MAIL FROM:<${mailFrom}>${body}`)
  if (!sender.startsWith('2')) throw new JmapError('forbiddenMailFrom', { description: sender })
  const refused: [string, string][] = []
  for (const recipient of rcptTo) {
    const reply = await smtp.ask(`RCPT TO:<${recipient}>`)
    if (!reply.startsWith('2')) refused.push([recipient, reply])
  }
  if (refused.length > 0) {
    throw new JmapError('invalidRecipients', {
      invalidRecipients: refused.map(([recipient]) => recipient),
      description: refused
        .map(([, reply]) => reply)
        .join('\n')
        .slice(0, 2000),
    })
  }
  const ready = await smtp.ask('DATA')
  if (!ready.startsWith('354')) throw new JmapError('forbiddenToSend', { description: ready })
  const stored = await smtp.data(content, 'converted')
  if (stored.startsWith('2')) return stored
  throw new JmapError(stored.startsWith('552') ? 'tooLarge' : 'forbiddenToSend', {
    description: stored,
  })
}
