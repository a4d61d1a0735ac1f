import type { Tx } from '../../../database/database.ts'

/** Deletes the mailboxes of a domain with their second factors; returns the deleted mailboxes. */
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
