import { isRedirect } from '../../../content/origin.ts'
import type { Mail } from '../../../content/stage.ts'
import type { Db } from '../../../database/database.ts'
import { senderRights } from '../../../hosting/sender-rights.repository.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { authorsIn } from '../../../mime/author-addresses.ts'

/**
 * The author of mail that may have an invitation, if it is proven and the mail is no spam: a login of
 * this host that may send as the address in From, or a domain that Rspamd has verified.
 */
export async function provenAuthor(db: Db, mail: Mail): Promise<string | undefined> {
  if (mail.isSpam || !mayHaveCalendar(mail)) return undefined
  const author = authorOf(mail)
  return author !== undefined && (await isProven(db, mail, author)) ? author : undefined
}

const mayHaveCalendar = ({ message: { raw } }: Mail): boolean =>
  raw.includes('text/calendar') || raw.includes('TEXT/CALENDAR')

/** The only address in the From header; a message with several authors is of none. */
function authorOf({ message }: Mail): string | undefined {
  const { addresses } = authorsIn(message.headers)
  const from = [...new Set(addresses.filter(({ field }) => field === 'from'))]
  return from.length === 1 ? from[0]?.address : undefined
}

/** A redirected message has the login of the mailbox that redirects, which proves nothing. */
async function isProven(
  db: Db,
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
