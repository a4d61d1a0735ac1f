import type { Mail } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { aliasTargets } from '../../../hosting/alias-targets.repository.ts'
import { withoutDetail } from '../../../lib/mail-address.ts'
import { forThread } from '../../../lib/shared-bytes.ts'
import { OutOfTime, PoolBusy, taskIn } from '../../../lib/worker-pool.ts'
import * as owners from './owners.repository.ts'
import { receive } from './receive.ts'

const TIME_LIMIT_MS = 5000
/** Recipients of one message whose calendars follow it. */
const MAX_MAILBOXES = 200

const readTask = taskIn<typeof import('./read-mail.task.ts')>(
  'features/caldav/scheduling/read-mail',
)

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'now' | 'workers'>
type Invitation = Pick<Mail, 'message' | 'organizationId' | 'recipients'>

/**
 * Applies the invitation, cancellation or reply (RFC 6047) in a mail to the calendars of its recipients
 * in one organization. A message that is applied twice changes nothing the second time.
 */
export async function applyMail(core: Needs, mail: Invitation, author: string): Promise<void> {
  const { log, workers } = core
  const { organizationId: organization, message: mime } = mail
  try {
    const mailboxes = await recipientsHere(core, mail)
    if (mailboxes.length === 0) return
    const limits = { owner: organization, timeLimitMs: TIME_LIMIT_MS }
    const message = await workers.run(readTask, { raw: forThread(mime.raw) }, limits)
    if (!message) return
    for (const mailbox of mailboxes.slice(0, MAX_MAILBOXES)) {
      const reason = await receive(core, mailbox, author, message)
      if (reason === undefined) log.debug({ organization }, 'calendar message applied')
      else log.debug({ organization, reason }, 'calendar message ignored')
    }
  } catch (error) {
    if (!(error instanceof OutOfTime || error instanceof PoolBusy)) throw error
    // The recipient has the mail and can open the invitation in it.
    log.warn({ err: error, organization }, 'calendar message not applied')
  }
}

async function recipientsHere(
  { db }: Needs,
  { organizationId, recipients }: Invitation,
): Promise<owners.Mailbox[]> {
  const addresses = recipients.map((recipient) => recipient.toLowerCase())
  const targets = await aliasTargets(db, addresses)
  const found = addresses.flatMap((one) => targets.get(one) ?? [one, withoutDetail(one)])
  return owners.mailboxesAt(db, organizationId, [...new Set(found)])
}
