import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

export interface KeyRow {
  id: string
  organization_id: string | null
  recipient: string
  sealed_identity: Buffer | null
}

const ownedBy = (organizationId: string | null) =>
  sql<boolean>`coalesce(organization_id, '') = ${organizationId ?? ''}`

/** Every key of an organization and of the platform, the current ones first. */
export const listFor = (db: Db, organizationId: string | null) =>
  db
    .selectFrom('archive_keys')
    .select(['id', 'organization_id', 'recipient', 'sealed_identity', 'retired_at'])
    .where(sql<boolean>`(organization_id is null or organization_id = ${organizationId})`)
    .orderBy(sql`retired_at desc nulls first`)
    .orderBy('id')
    .execute()

export const current = (db: Db, organizationId: string | null) =>
  db
    .selectFrom('archive_keys')
    .select(['id', 'recipient', 'sealed_identity', 'created_at'])
    .where(ownedBy(organizationId))
    .where('retired_at', 'is', null)
    .executeTakeFirst()

/** Does nothing when there is a current key already. */
export const insert = (db: Db | Tx, row: KeyRow, at: Date) =>
  sql`
    insert into archive_keys (id, organization_id, recipient, sealed_identity, created_at)
    values (${row.id}, ${row.organization_id}, ${row.recipient}, ${row.sealed_identity},
      ${at.toISOString()})
    on conflict (coalesce(organization_id, '')) where retired_at is null do nothing`.execute(db)

export const retire = (tx: Tx, organizationId: string | null, at: Date) =>
  tx
    .updateTable('archive_keys')
    .set({ retired_at: at.toISOString() })
    .where(ownedBy(organizationId))
    .where('retired_at', 'is', null)
    .execute()
