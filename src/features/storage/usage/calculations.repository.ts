import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { domainsWithQuotas } from '../storage.repository.ts'

/** Domains that changed since their last report or were never reported. */
export const unreported = (tx: Tx, limit: number) =>
  domainsWithQuotas(tx)
    .where('domains.last_storage_calculation', 'is not', null)
    .where(
      sql<SqlBool>`not exists (select from storage_calculations
        where storage_calculations.domain = domains.domain
          and storage_calculations.calculated_at >= domains.last_storage_calculation)`,
    )
    .orderBy('domains.id')
    .limit(limit)
    .execute()

export const insert = (
  tx: Tx,
  fields: {
    organization_id: string
    domain: string
    used_bytes: number
    quota_bytes: number | null
    total_emails: number
    calculated_at: string
  },
) => tx.insertInto('storage_calculations').values(fields).execute()

export const deleteBefore = (db: Db, time: Date) =>
  db.deleteFrom('storage_calculations').where('calculated_at', '<', time.toISOString()).execute()

const calculationsBefore = (db: Db, time: Date, domain: string | undefined) =>
  db
    .selectFrom('storage_calculations')
    .select('id')
    .where('calculated_at', '<', time.toISOString())
    .$if(domain !== undefined, (query) => query.where('domain', '=', domain as string))

/** Alerts about mailboxes and domains that are within their limits again. */
const alertsBefore = (db: Db, time: Date, domain: string | undefined) =>
  db
    .selectFrom('storage_alerts')
    .select(['entity_type', 'identifier'])
    .where('told', '=', 'none')
    .where('updated_at', '<', time.toISOString())
    .$if(domain !== undefined, (query) =>
      query.where(
        sql<SqlBool>`(case when entity_type = 'domain' then identifier
          else split_part(identifier, '@', -1) end) = ${domain}`,
      ),
    )

export async function countBefore(db: Db, time: Date, domain: string | undefined) {
  const count = sql<number>`count(*)::int`.as('count')
  const [records, alerts] = await Promise.all([
    calculationsBefore(db, time, domain).clearSelect().select(count).executeTakeFirstOrThrow(),
    alertsBefore(db, time, domain).clearSelect().select(count).executeTakeFirstOrThrow(),
  ])
  return { records: records.count, alerts: alerts.count }
}

export async function purgeBefore(tx: Tx, time: Date, domain: string | undefined) {
  const records = await tx
    .deleteFrom('storage_calculations')
    .where('id', 'in', calculationsBefore(tx, time, domain))
    .executeTakeFirstOrThrow()
  const alerts = await tx
    .deleteFrom('storage_alerts')
    .where(({ eb, refTuple }) =>
      eb(
        refTuple('entity_type', 'identifier'),
        'in',
        alertsBefore(tx, time, domain).$asTuple('entity_type', 'identifier'),
      ),
    )
    .executeTakeFirstOrThrow()
  return { records: Number(records.numDeletedRows), alerts: Number(alerts.numDeletedRows) }
}
