import { destinationsOf } from '../../../content/destinations.ts'
import type { Core } from '../../../core.ts'
import { readSender } from '../../../hosting/senders.ts'
import type { MimeMessage } from '../../../mime/message.ts'
import { linkProtection } from './protect-links.ts'

interface Released {
  organization_id: string | null
  recipient: string
  /** The sender of outgoing mail; null for mail that came in. */
  login: string | null
  message: MimeMessage
}

/**
 * Protects the links of a message that an operator releases from quarantine: it does not pass the
 * content filter. An alias is resolved when it leads to another organization that asks for protection.
 */
export async function protectReleased(
  core: Pick<Core, 'config' | 'db' | 'log' | 'vault' | 'workers'>,
  { organization_id, recipient, login, message }: Released,
): Promise<{ recipient: string; message: MimeMessage }[]> {
  const protect = linkProtection(core)
  const isIncoming = login === null && organization_id !== null
  const own = isIncoming ? await protect(message, organization_id) : message
  const senders = { find: (name: string) => readSender(core.db, name, 'inbound') }
  const needs = { db: core.db, senders }
  const { here, elsewhere } = await destinationsOf(needs, organization_id ?? '', [recipient])
  const theirs: { recipient: string; message: MimeMessage }[] = []
  for (const [organization, recipients] of elsewhere) {
    const changed = await protect(own, organization)
    theirs.push(...recipients.map((one) => ({ recipient: one, message: changed })))
  }
  if (theirs.every((one) => one.message === own)) return [{ recipient, message: own }]
  return [...here.map((one) => ({ recipient: one, message: own })), ...theirs]
}
