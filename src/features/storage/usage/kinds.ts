import { type RawBuilder, sql } from 'kysely'

/** A kind of stored data that is counted. */
export interface StorageKind {
  /** The `storage_type` of answers and of the history. */
  name: string
  /** Bytes of this kind are bytes of that one too, so they do not count towards the total again. */
  partOf?: string
  /**
   * Selects rows (organization_id, domain_id, account_id, bytes), with 0 bytes for a mailbox that has
   * none; account_id is null for what belongs to no mailbox.
   */
  rows: RawBuilder<unknown>
}

/** A feature that stores data of tenants adds its kind here. */
export const STORAGE_KINDS: readonly StorageKind[] = [
  {
    name: 'mailbox',
    rows: sql`select organization_id, domain_id, id as account_id, storage_used as bytes
      from email_accounts`,
  },
  {
    name: 'attachments',
    partOf: 'mailbox',
    rows: sql`select organization_id, domain_id, id as account_id, attachment_storage_used as bytes
      from email_accounts`,
  },
  {
    // Calendars and address books, also those of shared mailboxes.
    name: 'dav',
    rows: sql`select a.organization_id, a.domain_id, a.id as account_id, coalesce(c.bytes, 0) as bytes
      from email_accounts a left join dav_collections c on c.account_id = a.id
      union all
      select c.organization_id, s.domain_id, null, c.bytes
      from dav_collections c join shared_mailboxes s on s.id = c.shared_mailbox_id`,
  },
  {
    // Of the organization: one object serves all its mailboxes.
    name: 'archive',
    rows: sql`select o.id as organization_id, null::text as domain_id, null::text as account_id,
        coalesce(sum(m.stored_size), 0)::bigint as bytes
      from organizations o left join archived_messages m on m.organization_id = o.id group by o.id`,
  },
]

export type EntityType = 'organization' | 'domain' | 'mailbox'
export const ENTITY_TYPES = ['organization', 'domain', 'mailbox'] as const

/** The column of a row that says to which entity it belongs. */
export const COLUMN_OF = {
  organization: 'organization_id',
  domain: 'domain_id',
  mailbox: 'account_id',
} as const satisfies Record<EntityType, string>

/** The sum of the kinds that are not parts of others. */
export const totalOf = (used: Readonly<Record<string, number>>): number =>
  STORAGE_KINDS.reduce(
    (sum, { name, partOf }) => sum + (partOf === undefined ? (used[name] ?? 0) : 0),
    0,
  )
