import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'

/** A stored code, token, grant or sign-in. Ids are hashes of what programs and browsers hold. */
export interface Item {
  kind: string
  idHash: string
  grantHash: string | null
  uidHash: string | null
  userCodeHash: string | null
  clientId: string | null
  accountId: string | null
  scopes: string[]
  payload: Buffer
  expiresAt: Date
}

export const upsert = (db: Db, item: Item, now: Date) => {
  const fields = {
    grant_hash: item.grantHash,
    uid_hash: item.uidHash,
    user_code_hash: item.userCodeHash,
    client_id: item.clientId,
    email_account_id: item.accountId,
    scopes: item.scopes,
    payload: item.payload,
    expires_at: item.expiresAt.toISOString(),
  }
  return db
    .insertInto('oauth_items')
    .values({
      id: ulid(),
      kind: item.kind,
      id_hash: item.idHash,
      created_at: now.toISOString(),
      ...fields,
    })
    .onConflict((conflict) => conflict.columns(['kind', 'id_hash']).doUpdateSet(fields))
    .execute()
}

const live = (db: Db, kind: string, now: Date) =>
  db
    .selectFrom('oauth_items')
    .select(['payload', 'consumed_at'])
    .where('kind', '=', kind)
    .where('expires_at', '>', now.toISOString())

export const find = (db: Db, kind: string, hash: string, now: Date) =>
  live(db, kind, now).where('id_hash', '=', hash).executeTakeFirst()

export const findByUid = (db: Db, kind: string, hash: string, now: Date) =>
  live(db, kind, now).where('uid_hash', '=', hash).executeTakeFirst()

export const findByUserCode = (db: Db, kind: string, hash: string, now: Date) =>
  live(db, kind, now).where('user_code_hash', '=', hash).executeTakeFirst()

/** False when another request was first: of two requests with one code, one succeeds. */
export async function consume(db: Db, kind: string, hash: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('oauth_items')
    .set({ consumed_at: now.toISOString() })
    .where('kind', '=', kind)
    .where('id_hash', '=', hash)
    .where('consumed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

const ADDRESS_OF_ACCOUNT = sql<string>`(
  select email from email_accounts where id = oauth_items.email_account_id)`

/** Returns the mailboxes whose access tokens were among the removed items. */
export async function remove(
  db: Db,
  which: { kind: string; idHash: string } | { grantHash: string } | { grantId: string },
): Promise<string[]> {
  let query = db.deleteFrom('oauth_items')
  if ('kind' in which) {
    query = query.where('kind', '=', which.kind).where('id_hash', '=', which.idHash)
  } else {
    const hash =
      'grantHash' in which
        ? sql<string>`${which.grantHash}`
        : sql<string>`(select id_hash from oauth_items where id = ${which.grantId} and kind = 'Grant')`
    query = query.where((eb) =>
      eb.or([
        eb('grant_hash', '=', hash),
        eb.and([eb('kind', '=', 'Grant'), eb('id_hash', '=', hash)]),
      ]),
    )
  }
  const removed = await query.returning(['kind', ADDRESS_OF_ACCOUNT.as('email')]).execute()
  return [...new Set(removed.flatMap(({ kind, email }) => (kind === 'AccessToken' ? [email] : [])))]
}

/** Expired rows, and grants without anything left that could use them. */
export const removeExpired = (db: Db, now: Date) =>
  sql`
    delete from oauth_items i
    where i.expires_at < ${now.toISOString()}::timestamptz
      or (i.kind = 'Grant' and i.created_at < ${now.toISOString()}::timestamptz - interval '1 day'
        and not exists (
          select from oauth_items t
          where t.grant_hash = i.id_hash and t.expires_at > ${now.toISOString()}::timestamptz))`.execute(
    db,
  )
