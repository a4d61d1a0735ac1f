import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

export const settingOf = (db: Db, accountId: string) =>
  db
    .selectFrom('mail_encryption')
    .select(['enabled', 'method', 'updated_at'])
    .where('account_id', '=', accountId)
    .executeTakeFirst()

export type Method = 'pgp' | 'smime'

export async function isEncrypting(db: Db, accountId: string, method: Method): Promise<boolean> {
  const setting = await settingOf(db, accountId)
  return setting?.enabled === true && setting.method === method
}

export const set = (
  tx: Tx,
  account: { id: string; organizationId: string },
  setting: { enabled: boolean; method: Method },
  at: Date,
) =>
  tx
    .insertInto('mail_encryption')
    .values({
      account_id: account.id,
      organization_id: account.organizationId,
      ...setting,
      updated_at: at.toISOString(),
    })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({ ...setting, updated_at: at.toISOString() }),
    )
    .execute()

/** False on most installations, which then look at no recipient. */
export const anyEncrypts = async (db: Db): Promise<boolean> =>
  (await db
    .selectFrom('mail_encryption')
    .select('account_id')
    .where('enabled', '=', true)
    .limit(1)
    .executeTakeFirst()) !== undefined

export interface Encrypting {
  email: string
  organization_id: string
  method: Method
  /** The public key or the certificate; null when there is none any more. */
  public_key: string | null
  expires_at: string | null
  revoked: boolean | null
}

/** The addresses whose mailboxes encrypt, with their preferred keys. */
export async function encryptingAmong(
  db: Db,
  addresses: readonly string[],
): Promise<Map<string, Encrypting>> {
  const { rows } = await sql<Encrypting>`
    select account.email, account.organization_id, setting.method,
      coalesce(key.public_key, certificate.certificate) as public_key,
      coalesce(key.expires_at, certificate.expires_at) as expires_at, key.revoked
    from mail_encryption setting
    join email_accounts account on account.id = setting.account_id
    join domains on domains.id = account.domain_id and domains.hosted
    left join pgp_keys key on setting.method = 'pgp' and key.account_id = account.id
      and key.email = account.email and key.preferred
    left join smime_certificates certificate on setting.method = 'smime'
      and certificate.account_id = account.id and certificate.email = account.email
      and certificate.preferred
    where setting.enabled and account.email = any(${[...addresses]}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.email, row]))
}
