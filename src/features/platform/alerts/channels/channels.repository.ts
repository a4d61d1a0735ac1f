import { sql } from 'kysely'
import type { Db, Tx } from '../../../../database/database.ts'
import type { ChannelType } from '../alert-metrics.ts'

// All columns but the signing secret, which the API never returns.
const columns = [
  'id',
  'name',
  'type',
  'target',
  'enabled',
  sql<boolean>`signing_secret is not null`.as('has_signing_secret'),
  'last_used_at',
  'last_error',
  'created_at',
] as const

export interface ChannelFilter {
  type?: ChannelType
  enabled?: boolean
}

export const list = (db: Db, { type, enabled }: ChannelFilter) => {
  let query = db.selectFrom('alert_channels').select(columns)
  if (type !== undefined) query = query.where('type', '=', type)
  if (enabled !== undefined) query = query.where('enabled', '=', enabled)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').execute()
}

/** Includes the sealed signing secret. */
export const findForDelivery = (db: Db, id: string) =>
  db
    .selectFrom('alert_channels')
    .select(['id', 'name', 'type', 'target', 'signing_secret'])
    .where('id', '=', id)
    .executeTakeFirst()

export const insert = (
  tx: Tx,
  channel: {
    id: string
    name: string
    type: ChannelType
    target: string
    enabled: boolean
    signing_secret: Buffer | null
    created_at: string
  },
) => tx.insertInto('alert_channels').values(channel).returning(columns).executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('alert_channels').where('id', '=', id).returning('id').executeTakeFirst()

export const rulesWith = (tx: Tx, channelId: string) =>
  tx
    .selectFrom('alert_rules')
    .select(['id', 'name'])
    .where(sql<boolean>`${channelId} = any(channel_ids)`)
    .orderBy('name')
    .orderBy('id')
    .execute()

export const recordDelivery = (db: Db, id: string, error: string | null, now: Date) =>
  db
    .updateTable('alert_channels')
    .set({ last_used_at: now.toISOString(), last_error: error })
    .where('id', '=', id)
    .execute()
