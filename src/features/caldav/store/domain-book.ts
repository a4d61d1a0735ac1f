import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { sha256 } from '../../../lib/tokens.ts'
import type { StoredObject } from './objects.repository.ts'

/** The name of the address book that every mailbox of a domain sees, with the mailboxes of the domain. */
export const DOMAIN_BOOK = 'domain'

const BATCH = 500

interface Person {
  id: string
  email: string
  name: string | null
  updated_at: string
}

const people = (db: Db, accountId: string) =>
  db
    .selectFrom('email_accounts as person')
    .innerJoin('email_accounts as reader', (join) =>
      join
        .onRef('reader.domain_id', '=', 'person.domain_id')
        .onRef('reader.organization_id', '=', 'person.organization_id'),
    )
    .select(['person.id', 'person.email', 'person.name', 'person.updated_at'])
    .where('reader.id', '=', accountId)
    .where('person.status', '=', 'active')

export async function* listPeople(db: Db, accountId: string): AsyncGenerator<StoredObject[]> {
  let after = ''
  for (;;) {
    const rows = await people(db, accountId)
      .where('person.id', '>', after)
      .orderBy('person.id')
      .limit(BATCH)
      .execute()
    if (rows.length > 0) yield rows.map(cardOf)
    if (rows.length < BATCH) return
    after = rows.at(-1)?.id ?? ''
  }
}

export async function* namedPeople(
  db: Db,
  accountId: string,
  names: readonly string[],
): AsyncGenerator<StoredObject[]> {
  const ids = names.flatMap((name) => (name.endsWith('.vcf') ? [name.slice(0, -4)] : []))
  for (let start = 0; start < ids.length; start += BATCH) {
    const rows = await people(db, accountId)
      .where('person.id', 'in', ids.slice(start, start + BATCH))
      .execute()
    yield rows.map(cardOf)
  }
}

/** Changes whenever a mailbox of the domain is added, renamed or removed. */
export async function domainBookState(db: Db, accountId: string): Promise<string> {
  const { rows } = await sql<{ state: string | null }>`
    select md5(string_agg(person.id || coalesce(person.name, ''), ',' order by person.id)) as state
    from email_accounts person
    join email_accounts reader on reader.domain_id = person.domain_id
      and reader.organization_id = person.organization_id
    where reader.id = ${accountId} and person.status = 'active'`.execute(db)
  return rows[0]?.state ?? 'empty'
}

const cardText = (value: string) => value.replace(/[\\,;]/g, '\\$&').replace(/\r?\n|\r/g, '\\n')

function cardOf({ id, email, name, updated_at }: Person): StoredObject & { data: string } {
  const data = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `UID:${id}`,
    `FN:${cardText(name || email)}`,
    `N:${cardText(name || email)};;;;`,
    `EMAIL;TYPE=INTERNET:${cardText(email)}`,
    'END:VCARD',
    '',
  ].join('\r\n')
  return {
    uri: `${id}.vcf`,
    etag: sha256(data).slice(0, 22),
    component: null,
    schedule_tag: null,
    size: Buffer.byteLength(data),
    modified_at: updated_at,
    data,
  }
}
