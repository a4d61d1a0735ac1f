import type { Tx } from '../../database/database.ts'

/** Undefined when there is none; one that is there stays until the transaction is over. */
export const lockOrganization = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()
