import { type ShownBrand, signatureOf } from '../../../hosting/brand.repository.ts'
import type { DueLink } from './mail-links.repository.ts'

/** The mail of an invitation or a password reset, signed with the brand of the organization. */
export function linkMail(due: DueLink, link: string, brand: ShownBrand) {
  const { kind, email, organization_name, expires_at } = due
  // A name is one line: it must not add lines to the text that look like ours.
  const organization = organization_name?.replace(/\s+/g, ' ').trim()
  const until = `${expires_at.slice(0, 16).replace('T', ' ')} UTC`
  const [subject, reason] =
    kind === 'invitation'
      ? [
          `Invitation to ${organization}`,
          `You were invited to manage the mail of ${organization}. Set a password here:`,
        ]
      : [
          'Set a new password',
          `A new password was requested for ${email}${organization ? ` at ${organization}` : ''}. Set it here:`,
        ]
  const text = [
    reason,
    '',
    link,
    '',
    `The link works once, until ${until}. If you did not expect this mail, ignore it: nothing changes.`,
    ...signatureOf(brand),
    '',
  ].join('\n')
  return { to: [email], fromName: brand.brand_name, subject, text }
}
