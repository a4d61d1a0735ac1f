import type { Tx } from '../../../database/database.ts'

/** Of its mailboxes and shared mailboxes. */
export async function addressesOf(tx: Tx, domainId: string) {
  const of = (table: 'email_accounts' | 'shared_mailboxes') =>
    tx.selectFrom(table).select(['id', 'email']).where('domain_id', '=', domainId)
  const rows = await of('email_accounts').unionAll(of('shared_mailboxes')).execute()
  return { ids: rows.map(({ id }) => id), emails: rows.map(({ email }) => email) }
}

/** Mailboxes first: they hold the domain. Their second factors go too. Answers who is gone. */
export async function removeAccountsOf(tx: Tx, domainId: string) {
  await tx
    .deleteFrom('totp_enrollments')
    .where('kind', '=', 'mailbox')
    .where('subject_id', 'in', (eb) =>
      eb.selectFrom('email_accounts').select('id').where('domain_id', '=', domainId),
    )
    .execute()
  return tx
    .deleteFrom('email_accounts')
    .where('domain_id', '=', domainId)
    .returning(['id', 'email'])
    .execute()
}

export const removeAliasesOf = (tx: Tx, domainId: string) =>
  tx.deleteFrom('aliases').where('domain_id', '=', domainId).returning('id').execute()
