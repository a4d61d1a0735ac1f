import { isRedirect } from '../../../content/origin.ts'
import type { Mail, Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { aliasTargets } from '../../../hosting/alias-targets.repository.ts'
import { senderRights } from '../../../hosting/sender-rights.repository.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { forThread } from '../../../lib/shared-bytes.ts'
import { OutOfTime, PoolBusy, taskIn } from '../../../lib/worker-pool.ts'
import { authorsIn } from '../../../mime/author-addresses.ts'
import * as owners from './owners.repository.ts'
import type { CalendarMessage } from './read-mail.task.ts'
import { receive } from './receive.ts'

const TIME_LIMIT_MS = 5000
/** Recipients of one message whose calendars follow it. */
const MAX_MAILBOXES = 200

const readTask = taskIn<typeof import('./read-mail.task.ts')>(
  'features/caldav/scheduling/read-mail',
)

/**
 * Applies invitations, cancellations and replies (RFC 6047) to the calendars of their recipients. The
 * mail itself always passes. A message that is delivered twice changes nothing the second time.
 */
export function schedulingStage(core: Core): Stage {
  const { log, workers } = core

  async function apply(mail: Mail): Promise<void> {
    const author = authorOf(mail)
    if (author === undefined || mail.isSpam || !mayHaveCalendar(mail)) return
    if (!(await isProven(core, mail, author))) return
    const mailboxes = await recipientsHere(core, mail)
    if (mailboxes.length === 0) return
    const limits = { owner: mail.organizationId, timeLimitMs: TIME_LIMIT_MS }
    const message = await workers.run(readTask, { raw: forThread(mail.message.raw) }, limits)
    if (!message) return
    for (const mailbox of mailboxes.slice(0, MAX_MAILBOXES)) {
      await applyTo(mailbox, author, message)
    }
  }

  async function applyTo(mailbox: owners.Mailbox, author: string, message: CalendarMessage) {
    const ignored = await receive(core, mailbox, author, message)
    const { organization_id: organization } = mailbox
    if (ignored === undefined) log.debug({ organization }, 'calendar message applied')
    else log.debug({ organization, reason: ignored }, 'calendar message ignored')
  }

  return {
    name: 'calendars',
    async apply(mail) {
      try {
        await apply(mail)
      } catch (error) {
        if (!(error instanceof OutOfTime || error instanceof PoolBusy)) throw error
        // The recipient has the mail and can open the invitation in it.
        log.warn({ err: error, organization: mail.organizationId }, 'calendar message not applied')
      }
      return { kind: 'pass', mails: [mail] }
    },
  }
}

/** The only address in the From header; a message with several authors is of none. */
function authorOf({ message }: Mail): string | undefined {
  const { addresses } = authorsIn(message.headers)
  const from = [...new Set(addresses.filter(({ field }) => field === 'from'))]
  return from.length === 1 ? from[0]?.address : undefined
}

const mayHaveCalendar = ({ message: { raw } }: Mail): boolean =>
  raw.includes('text/calendar') || raw.includes('TEXT/CALENDAR')

/**
 * Returns whether the author is who the header says: a login of this host that may send as it, or a
 * domain that Rspamd has verified. A redirected message has the login of the mailbox that redirects.
 */
async function isProven(
  { db }: Pick<Core, 'db'>,
  { login, message, verifiedDomains = [] }: Mail,
  author: string,
): Promise<boolean> {
  if (login !== undefined && !isRedirect(message)) {
    const rights = await senderRights(db, login.toLowerCase(), [author])
    if (rights.length > 0) return true
  }
  const domain = domainOf(author)
  return verifiedDomains.some((one) => one === domain || domain.endsWith(`.${one}`))
}

async function recipientsHere(
  { db }: Pick<Core, 'db'>,
  { organizationId, recipients }: Mail,
): Promise<owners.Mailbox[]> {
  const addresses = recipients.map((recipient) => recipient.toLowerCase())
  const targets = await aliasTargets(db, addresses)
  const found = addresses.flatMap((one) => targets.get(one) ?? [one, withoutDetail(one)])
  return owners.mailboxesAt(db, organizationId, [...new Set(found)])
}

/** The same as recipient_delimiter of Postfix does. */
const withoutDetail = (address: string): string => address.replace(/^([^@+]+)\+[^@]*@/, '$1@')
