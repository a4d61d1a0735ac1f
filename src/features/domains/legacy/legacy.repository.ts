import type { Tx } from '../../../database/database.ts'

/** Mailboxes first: they hold the domain. Answers who is gone. */
export const removeAccountsOf = (tx: Tx, domainId: string) =>
  tx
    .deleteFrom('email_accounts')
    .where('domain_id', '=', domainId)
    .returning(['id', 'email'])
    .execute()

export const removeAliasesOf = (tx: Tx, domainId: string) =>
  tx.deleteFrom('aliases').where('domain_id', '=', domainId).returning('id').execute()
