import type { Db } from '../database/database.ts'
import type { Senders } from '../hosting/senders.ts'
import { suppressedAmong } from '../hosting/suppressions.repository.ts'
import type { MimeMessage } from '../mime/message.ts'
import type { Mail, Outcome, Stage } from './stage.ts'

interface Needs {
  db: Db
  senders: Pick<Senders, 'find'>
  now: () => Date
}

const BULK = /^\s*(?:bulk|list|junk)\s*$/i
const TEXT = '5.7.1 the address is suppressed, and the message is for a list'

/**
 * Refuses suppressed recipients of list mail that a mailbox sends. When Postfix asks about a
 * recipient it has no headers yet, so mail of a mailbox counts as personal there.
 */
export function listMailStage({ db, senders, now }: Needs): Stage {
  return {
    name: 'list mail',
    async apply(mail: Mail): Promise<Outcome> {
      const { direction, login, message, organizationId, recipients } = mail
      if (direction !== 'outbound' || !login || !isListMail(message)) return passed(mail)
      const sender = await senders.find(login.toLowerCase(), 'outbound')
      if (sender?.login?.kind !== 'mailbox') return passed(mail)
      const found = await suppressedAmong(db, recipients, organizationId, now())
      const refused = recipients.filter((one) => found.has(one.toLowerCase()))
      if (refused.length === 0) return passed(mail)
      const others = recipients.filter((one) => !refused.includes(one))
      if (others.length === 0) return { kind: 'reject', text: TEXT }
      return {
        kind: 'pass',
        mails: [{ ...mail, recipients: others }],
        rejected: [{ mail: { ...mail, recipients: refused }, text: TEXT }],
      }
    },
  }
}

const isListMail = (message: MimeMessage): boolean =>
  message.field('list-unsubscribe') !== undefined ||
  message.field('list-id') !== undefined ||
  BULK.test(message.field('precedence') ?? '')

const passed = (mail: Mail): Outcome => ({ kind: 'pass', mails: [mail] })
