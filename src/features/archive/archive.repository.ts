import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

interface Summary {
  enabled: boolean
  recipient: string | null
  own_recipient: boolean
  messages: number
  bytes: number
  waiting: number
}

export async function summaryOf(db: Db, organizationId: string): Promise<Summary> {
  const { rows } = await sql<Summary>`
    select coalesce((select enabled from archive_settings
        where organization_id = ${organizationId}), true) as enabled,
      keys.recipient, coalesce(keys.sealed_identity is null and keys.recipient is not null, false)
        as own_recipient,
      figures.messages::int as messages, figures.bytes, figures.waiting::int as waiting
    from (
      select count(*) as messages, coalesce(sum(stored_size), 0)::bigint as bytes,
        count(*) filter (where storage_type = 'spool') as waiting
      from archived_messages where organization_id = ${organizationId}
    ) as figures
    left join archive_keys keys
      on keys.organization_id = ${organizationId} and keys.retired_at is null`.execute(db)
  return rows[0] as Summary
}

export const setEnabled = (tx: Tx, organization_id: string, enabled: boolean, at: Date) =>
  tx
    .insertInto('archive_settings')
    .values({ organization_id, enabled, updated_at: at.toISOString() })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet({ enabled, updated_at: at.toISOString() }),
    )
    .execute()

export const organizationExists = async (db: Db, id: string): Promise<boolean> =>
  (await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()) !==
  undefined

export const findMailbox = (db: Db, organizationId: string, email: string) =>
  db
    .selectFrom('email_accounts')
    .select('email')
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .executeTakeFirst()

export const countDeletions = async (db: Db): Promise<number> =>
  (
    await db
      .selectFrom('archive_deletions')
      .select(sql<number>`count(*)::int`.as('count'))
      .executeTakeFirstOrThrow()
  ).count

/** Organizations with an archive and no unfinished job that seals it anew. */
export async function organizationsToSeal(tx: Tx): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from organizations
    where exists (select from archived_messages where organization_id = organizations.id)
      and not exists (select from archive_jobs where organization_id = organizations.id
        and kind = 'rekey' and status in ('queued', 'running'))
    order by id`.execute(tx)
  return rows.map(({ id }) => id)
}
