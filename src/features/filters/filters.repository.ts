import type { Scope } from '../../access/caller.ts'
import type { Db } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'

export const findActiveAccount = (db: Db, scope: Scope, email: string) =>
  db
    .selectFrom('email_accounts')
    .select(['id', 'email', 'organization_id'])
    .where('email', '=', email)
    .where('status', '=', 'active')
    .where(inScope('email_accounts', scope))
    .executeTakeFirst()
