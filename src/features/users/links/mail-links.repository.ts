import { sql } from 'kysely'
import type { LinkKind } from '../../../access/account-links.ts'
import type { Db } from '../../../database/database.ts'
import { claiming, heldBy, type Lease, setReleased } from '../../../jobs/lease.ts'

export interface DueLink {
  id: string
  kind: LinkKind
  sealed_token: Buffer
  expires_at: string
  mail_attempts: number
  email: string
  organization_id: string | null
  organization_name: string | null
}

/** Claims links whose mail is due, with the person whom they are for. */
export async function claim(db: Db, lease: Lease, limit: number): Promise<DueLink[]> {
  const { rows } = await sql<DueLink>`
    with claimed as (${claiming('account_links', lease, {
      key: ['id'],
      where: sql`mail_status = 'pending' and mail_due_at <= now()`,
      orderBy: sql`mail_due_at`,
      limit,
      returning: sql`id, kind, sealed_token, expires_at, mail_attempts, user_id, operator_id`,
    })})
    select l.id, l.kind, l.sealed_token, l.expires_at, l.mail_attempts,
      coalesce(u.email, o.email) as email, g.id as organization_id, g.name as organization_name
    from claimed l
    left join dashboard_users u on u.id = l.user_id
    left join organizations g on g.id = u.organization_id
    left join operators o on o.id = l.operator_id`.execute(db)
  return rows
}

/** The token is not needed any more. */
export const finish = (db: Db, { id }: DueLink, lease: Lease) =>
  sql`
    update account_links set mail_status = 'sent', mail_error = null, sealed_token = null,
      ${setReleased}
    where id = ${id} and ${heldBy(lease)}`.execute(db)

/** Retried after a pause; without one the mail has failed for good. */
export const fail = (
  db: Db,
  { id }: DueLink,
  lease: Lease,
  error: string,
  againSeconds: number | undefined,
) =>
  sql`
    update account_links set mail_attempts = mail_attempts + 1, mail_error = ${error},
      mail_status = ${againSeconds === undefined ? 'failed' : 'pending'},
      sealed_token = case when ${againSeconds === undefined} then null else sealed_token end,
      mail_due_at = now() + make_interval(secs => ${againSeconds ?? 0}),
      ${setReleased}
    where id = ${id} and ${heldBy(lease)}`.execute(db)
