import { sql } from 'kysely'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { CLIENT_SERVERS } from '../../../hosting/client-settings.ts'

export type ProfileService = ReturnType<typeof profileService>

export const profileService = ({ config, db }: Pick<Core, 'config' | 'db'>) => ({
  async get(caller: Caller) {
    const { email, ...account } = await db
      .selectFrom('email_accounts')
      .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
      .select([
        'email_accounts.email',
        'email_accounts.name',
        'email_accounts.storage_used',
        // The value that the mail server enforces.
        sql<number>`case when email_accounts.storage_quota > 0
          then email_accounts.storage_quota else domains.max_quota end`.as('storage_quota'),
        'email_accounts.last_login',
        'email_accounts.must_change_password',
        'email_accounts.password_change_reason',
      ])
      .where('email_accounts.id', '=', caller.id)
      .executeTakeFirstOrThrow()
    return {
      email_address: email,
      ...account,
      servers: CLIENT_SERVERS.map((server) => ({ host: config.SVC_MAIL_HOSTNAME, ...server })),
    }
  },
})
