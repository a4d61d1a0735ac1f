import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** The quota settings that apply to a mailbox, or to an address of a domain that is none. */
export interface Limited {
  email: string
  is_mailbox: boolean
  attachment_storage_used: number
  storage_quotas: object | null
  domain_quotas: object
  organization_quotas: object
}

export async function limitsOf(
  db: Db,
  organizationId: string,
  addresses: readonly string[],
): Promise<Limited[]> {
  const { rows } = await sql<Limited>`
    select address as email, m.id is not null as is_mailbox,
      coalesce(m.attachment_storage_used, 0) as attachment_storage_used,
      m.storage_quotas, d.storage_quotas as domain_quotas, o.storage_quotas as organization_quotas
    from unnest(${[...addresses]}::text[]) as address
    join domains d on d.domain = split_part(address, '@', -1)
      and d.organization_id = ${organizationId} and d.ownership_verified_at is not null
    join organizations o on o.id = d.organization_id
    left join email_accounts m on m.email = address and m.domain_id = d.id`.execute(db)
  return rows
}

/** Adds to the figures of mailboxes; the storage chore carries them to the accounts. */
export const count = (
  db: Db,
  emails: readonly string[],
  { files, attachments, bytes }: { files: number; attachments: number; bytes: number },
) => {
  const sorted = [...emails].sort()
  return sql`
    with counted as (
      insert into attachment_usage (email, files, attachments, bytes)
      select email, ${files}::bigint, ${attachments}::bigint, ${bytes}::bigint
      from unnest(${sorted}::text[]) as email
      on conflict (email) do update set
        files = attachment_usage.files + excluded.files,
        attachments = attachment_usage.attachments + excluded.attachments,
        bytes = attachment_usage.bytes + excluded.bytes)
    select mark_storage('mailbox', ${sorted}::text[])`.execute(db)
}
