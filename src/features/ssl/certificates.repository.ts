import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { nameOf } from '../../database/paging.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import { ulid } from '../../lib/ulid.ts'
import { fileNameOf, fileOf } from './inventory/places.ts'

export type Status = 'active' | 'expired' | 'revoked' | 'pending' | 'failed'

export interface CertificateFilter {
  status?: Status
  domain?: string
  expiring_days?: number
}

export type CertificateSort = Sort<'valid_until' | 'domain' | 'status' | 'issued_at'>

const DAY = sql`interval '1 day'`

/** `expired` and not-yet-valid follow from the clock; the stored status does not change. */
const statusAt = (now: Date) => sql<Status>`
  case when certificates.status = 'active' and valid_until <= ${now.toISOString()}::timestamptz
      then 'expired'
    when certificates.status = 'active' and valid_from > ${now.toISOString()}::timestamptz
      then 'pending'
    else certificates.status end`

const select = (db: Db, now: Date) =>
  db.selectFrom('certificates').select([
    'certificates.id',
    'certificates.domain',
    'certificates.organization_id',
    sql<string | null>`${nameOf('organizations', 'certificates.organization_id')}`.as(
      'organization_name',
    ),
    statusAt(now).as('status'),
    'certificates.issuer',
    'certificates.algorithm',
    'certificates.key_size',
    'certificates.auto_renew',
    'certificates.error_message',
    'certificates.valid_from',
    'certificates.valid_until',
    sql<number | null>`floor(extract(epoch from
        valid_until - ${now.toISOString()}::timestamptz) / 86400)::int`.as('days_until_expiry'),
    'certificates.issued_at',
    'certificates.last_renewed',
  ])

const matching = ({ status, domain, expiring_days }: CertificateFilter, now: Date) => {
  const conditions = [
    ...(status === undefined ? [] : [sql<SqlBool>`${statusAt(now)} = ${status}`]),
    ...(domain ? [contains(['certificates.domain'], domain)] : []),
    ...(expiring_days === undefined
      ? []
      : [
          sql<SqlBool>`valid_until <=
            ${now.toISOString()}::timestamptz + ${expiring_days}::int * ${DAY}`,
        ]),
  ]
  return conditions.length === 0
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`
}

export async function list(
  db: Db,
  filter: CertificateFilter,
  { by, direction }: CertificateSort,
  { perPage, offset }: Page,
  now: Date,
) {
  const key = by === 'status' ? statusAt(now) : sql.ref(`certificates.${by}`)
  const items = await select(db, now)
    .where(matching(filter, now))
    // Certificates without an end date come last in both directions.
    .orderBy(sql`${key} ${sql.raw(direction)} nulls last`)
    .orderBy('certificates.id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await db
    .selectFrom('certificates')
    .select(sql<number>`count(*)`.as('total'))
    .where(matching(filter, now))
    .executeTakeFirstOrThrow()
  return { items, total }
}

/** The certificate that is valid for longest, else the newest. */
export const newestOf = (db: Db, domain: string, now: Date) =>
  select(db, now)
    .where('certificates.domain', '=', domain)
    .orderBy(sql`valid_until desc nulls last`)
    .orderBy('certificates.id', 'desc')
    .limit(1)
    .executeTakeFirst()

export const find = (db: Db, id: string, now: Date) =>
  select(db, now).where('certificates.id', '=', id).executeTakeFirstOrThrow()

export async function counts(db: Db, now: Date) {
  const of = (status: Status) =>
    sql<number>`count(*) filter (where ${statusAt(now)} = ${status})`.as(status)
  return db
    .selectFrom('certificates')
    .select([
      of('active'),
      of('expired'),
      of('revoked'),
      of('pending'),
      of('failed'),
      sql<number>`count(*)`.as('total'),
      sql<number>`count(*) filter (where ${statusAt(now)} = 'active'
        and valid_until <= ${now.toISOString()}::timestamptz + 30 * ${DAY})`.as('expiring_soon'),
    ])
    .executeTakeFirstOrThrow()
}

export const lastIssued = (db: Db) =>
  db
    .selectFrom('certificates')
    .select(['domain', 'issued_at'])
    .where('issued_at', 'is not', null)
    .orderBy('issued_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Adds a certificate that we obtain; a file of that name in the folder is renewed by us from now on. */
export async function obtainable(
  tx: Tx,
  {
    domain,
    organization_id,
    folder,
  }: { domain: string; organization_id: string | null; folder: string },
): Promise<string> {
  const path = fileNameOf(domain)
  await tx
    .updateTable('certificates')
    .set({ path })
    .where('path', '=', fileOf(folder, domain))
    .where(sql<SqlBool>`not exists (select from certificates other where other.path = ${path})`)
    .execute()
  const { id } = await tx
    .insertInto('certificates')
    .values({ id: ulid(), domain, organization_id, path, status: 'pending', auto_renew: true })
    .onConflict((conflict) =>
      conflict.column('path').doUpdateSet({ auto_renew: true, domain, organization_id }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Returns the names that are proven domains of any organization. */
export const hostedDomains = async (db: Db, names: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('domains')
    .select('domain')
    .where('domain', 'in', names)
    .where('ownership_verified_at', 'is not', null)
    .execute()
  return rows.map(({ domain }) => domain)
}

/** Undefined if the domain is not hosted here: unknown, pending or inactive. */
export const hostedDomain = (db: Db, domain: string) =>
  db
    .selectFrom('domains')
    .select(['domain', 'organization_id'])
    .where('domain', '=', domain)
    .where('hosted', '=', true)
    .executeTakeFirst()
