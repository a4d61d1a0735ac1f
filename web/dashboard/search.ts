import type { Command } from '../ui/palette.tsx'
import { api } from './api.ts'
import { t } from './words.ts'

const FOUND = 5

/** The rows that the command palette finds beside the screens. */
export async function search(text: string): Promise<Command[]> {
  const query = { q: text, per_page: FOUND }
  const [domains, mailboxes] = await Promise.all([
    api.get('/domains/', { query }),
    api.get('/mailboxes/email-accounts', { query }),
  ])
  return [
    ...domains.items.map(({ id, domain_unicode }) => ({
      title: domain_unicode,
      to: `/app/domains/${id}`,
      kind: t.domain,
    })),
    ...mailboxes.items.map(({ id, email }) => ({
      title: email,
      to: `/app/mailboxes/${id}`,
      kind: t.mailbox,
    })),
  ]
}
