import { type Insertable, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'
import type { Page } from '../../../http/paging.ts'
import { columns as domainColumns } from '../domains.repository.ts'

const columns = [
  'mx',
  'spf',
  'dkim',
  'dmarc',
  'ownership',
  'first_seen_at',
  'last_seen_at',
] as const

export const findCurrent = (tx: Tx, domainId: string) =>
  tx
    .selectFrom('dns_checks')
    .select(['id', ...columns])
    .where('domain_id', '=', domainId)
    .where('current', '=', sql.lit(true))
    .executeTakeFirst()

export const setSeen = (tx: Tx, id: string, at: string) =>
  tx.updateTable('dns_checks').set({ last_seen_at: at }).where('id', '=', id).execute()

export const endCurrent = (tx: Tx, domainId: string) =>
  tx
    .updateTable('dns_checks')
    .set({ current: false })
    .where('domain_id', '=', domainId)
    .where('current', '=', sql.lit(true))
    .execute()

export const insert = (tx: Tx, row: Insertable<Tables['dns_checks']>) =>
  tx.insertInto('dns_checks').values(row).execute()

/** Deletes all but the newest rows of a domain. */
export const removeBeyond = (tx: Tx, domainId: string, kept: number) =>
  tx
    .deleteFrom('dns_checks')
    .where('id', 'in', (of) =>
      of
        .selectFrom('dns_checks')
        .select('id')
        .where('domain_id', '=', domainId)
        .where('current', '=', sql.lit(false))
        .orderBy('first_seen_at', 'desc')
        .orderBy('id', 'desc')
        .offset(kept - 1),
    )
    .execute()

export async function list(db: Db, domainId: string, { perPage, offset }: Page) {
  const ofDomain = db.selectFrom('dns_checks').where('domain_id', '=', domainId)
  const [items, { total }] = await Promise.all([
    ofDomain
      .select(columns)
      .orderBy('first_seen_at', 'desc')
      .orderBy('id', 'desc')
      .limit(perPage)
      .offset(offset)
      .execute(),
    ofDomain.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { items, total }
}

/** Hosted domains that were not looked at since; organizations take turns, each with its oldest look. */
export const dueForLook = (db: Db, since: Date, limit: number) =>
  db
    .selectFrom('domains')
    .leftJoin('dns_checks', (join) =>
      join
        .onRef('dns_checks.domain_id', '=', 'domains.id')
        .on('dns_checks.current', '=', sql.lit(true)),
    )
    .select(domainColumns)
    .where('domains.hosted', '=', true)
    .where((either) =>
      either.or([
        either('dns_checks.last_seen_at', 'is', null),
        either('dns_checks.last_seen_at', '<', since.toISOString()),
      ]),
    )
    .orderBy(
      sql`row_number() over (partition by domains.organization_id
        order by dns_checks.last_seen_at nulls first, domains.id)`,
    )
    .orderBy('dns_checks.last_seen_at', (order) => order.asc().nullsFirst())
    .orderBy('domains.id')
    .limit(limit)
    .execute()
