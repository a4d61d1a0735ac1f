import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'

const AT_ONCE = 1000

interface Old {
  organization_id: string
  before: Date
  held: string[]
}

const affected = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint }) => Number(numAffectedRows)

export const deleteLogRows = async (tx: Tx, { organization_id, before, held }: Old) =>
  affected(
    await sql`
      delete from mail_log where id in (
        select id from mail_log
        where organization_id = ${organization_id}
          and "timestamp" < ${before.toISOString()}::timestamptz
          and not (lower(sender) = any(${held}::text[]) or lower(recipient) = any(${held}::text[])
            or coalesce(lower(original_recipient) = any(${held}::text[]), false))
        order by "timestamp" limit ${AT_ONCE})`.execute(tx),
  )

export const deleteQuarantined = async (tx: Tx, { organization_id, before, held }: Old) =>
  affected(
    await sql`
      delete from quarantine where id in (
        select id from quarantine
        where organization_id = ${organization_id}
          and created_at < ${before.toISOString()}::timestamptz
          and not (lower(sender) = any(${held}::text[]) or lower(recipient) = any(${held}::text[]))
        limit ${AT_ONCE})`.execute(tx),
  )

/** Their files went long ago. */
export const deleteExports = async (tx: Tx, { organization_id, before, held }: Old) =>
  affected(
    await sql`
      delete from data_exports where id in (
        select id from data_exports
        where organization_id = ${organization_id} and status in ('expired', 'failed')
          and created_at < ${before.toISOString()}::timestamptz
          and not user_email = any(${held}::text[])
        limit ${AT_ONCE})`.execute(tx),
  )
