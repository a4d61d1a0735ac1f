import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { inScope, type Scope } from '../../../database/scope.ts'
import { copiesIn, inCopies, type PastDays } from '../../../hosting/past-days.ts'
import type { Page } from '../../../http/paging.ts'
import { ch } from '../../../outbound/clickhouse.ts'
import type { Kind } from '../protocol/places.ts'
import type { Owner } from '../store/collections.repository.ts'

export interface OwnerRow {
  id: string
  organization_id: string
  email: string
  owner: Owner
}

/** A mailbox or shared mailbox that the caller may see. */
export async function findOwner(
  db: Db,
  scope: Scope,
  email: string,
): Promise<OwnerRow | undefined> {
  const account = await db
    .selectFrom('email_accounts')
    .select(['id', 'organization_id', 'email'])
    .where('email', '=', email)
    .where(inScope('email_accounts', scope))
    .executeTakeFirst()
  if (account) return { ...account, owner: { account_id: account.id } }
  const shared = await db
    .selectFrom('shared_mailboxes')
    .select(['id', 'organization_id', 'email'])
    .where('email', '=', email)
    .where('status', '=', 'active')
    .where(inScope('shared_mailboxes', scope))
    .executeTakeFirst()
  return shared && { ...shared, owner: { shared_mailbox_id: shared.id } }
}

export const collectionsOf = (db: Db, owner: Owner, kind: Kind) => {
  const [column, id] = Object.entries(owner)[0] as ['account_id' | 'shared_mailbox_id', string]
  return db
    .selectFrom('dav_collections')
    .select(['id', 'uri', 'properties', 'components', 'object_count', 'bytes', 'created_at'])
    .where(column, '=', id)
    .where('kind', '=', kind)
    .orderBy('created_at')
    .orderBy('uri')
    .execute()
}

/** Names, addresses and numbers are near the start of a card; a picture may make it large. */
const READ_CHARACTERS = 16_384

export interface ContactRow {
  uri: string
  collection_id: string
  uid: string
  modified_at: string
  start: string
}

export async function contactsOf(db: Db, owner: Owner, { perPage, offset }: Page) {
  const [column, id] = Object.entries(owner)[0] as ['account_id' | 'shared_mailbox_id', string]
  const contacts = db
    .selectFrom('dav_objects')
    .innerJoin('dav_collections', 'dav_collections.id', 'dav_objects.collection_id')
    .where(`dav_collections.${column}`, '=', id)
    .where('dav_collections.kind', '=', 'addressbook')
    .where('dav_objects.gone', '=', false)
  const { total } = await contacts
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows: ContactRow[] = await contacts
    .select([
      'dav_objects.uri',
      'dav_objects.collection_id',
      'dav_objects.uid',
      'dav_objects.modified_at',
      sql<string>`left(dav_objects.data, ${READ_CHARACTERS})`.as('start'),
    ])
    .orderBy('dav_objects.collection_id')
    .orderBy('dav_objects.uri')
    .limit(perPage)
    .offset(offset)
    .execute()
  return { rows, total: Number(total) }
}

/** The addresses that a mailbox has written to, those of most messages first. */
export async function correspondentsOf(
  db: Db,
  past: PastDays,
  { email, organization_id }: Pick<OwnerRow, 'email' | 'organization_id'>,
  limit: number,
): Promise<string[]> {
  // The sender of a message from elsewhere proves nothing; such a row has another organization.
  const { rows } = await sql<{ copies: string[]; letters: Record<string, number> | null }>`
    select ${copiesIn({})} as copies, (
      select jsonb_object_agg(address, messages) from (
        select lower(recipient) as address, count(*) as messages from mail_log
        where sender = ${email} and organization_id = ${organization_id}
          and recipient like '%@%' and lower(recipient) <> ${email}
        group by 1 order by 2 desc, 1 limit ${limit}
      ) as recipients
    ) as letters`.execute(db)
  const { copies = [], letters } = rows[0] ?? {}
  const messages = new Map(Object.entries(letters ?? {}))
  if (copies.length > 0) {
    const sent = inCopies(copies, [
      ch`sender = ${email}`,
      ch`organization_id = ${organization_id}`,
      ch`position(recipient, ${'@'}) > 0`,
    ])
    const found = await past.store().select<{ address: string; total: string }>(ch`
      select lowerUTF8(recipient) as address, count() as total ${sent}
      group by address having address <> ${email} order by total desc, address limit ${limit}`)
    for (const { address, total } of found) {
      messages.set(address, Number(total) + (messages.get(address) ?? 0))
    }
  }
  return [...messages]
    .sort(([one, first], [other, second]) => second - first || (one < other ? -1 : 1))
    .map(([address]) => address)
    .slice(0, limit)
}

/** Names that an address book has or had: a contact that was deleted is not added again. */
export async function takenNames(db: Db, collectionId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('dav_objects')
    .select('uri')
    .where('collection_id', '=', collectionId)
    .execute()
  return new Set(rows.map(({ uri }) => uri))
}
