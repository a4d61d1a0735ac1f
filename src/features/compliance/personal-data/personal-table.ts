import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** A person is an e-mail address, with or without a mailbox on this host. */
export interface Person {
  email: string
  /** The mailbox; null when there is none any more, or never was. */
  account_id: string | null
  /** The owner of the domain; null when it is not hosted here. */
  organization_id: string | null
}

export type Condition = RawBuilder<SqlBool>

/** The effect of an erasure on the rows about a person. */
type Erasure =
  /** `only` limits the deletion to some of the rows that `find` finds. */
  | { delete: Counted; only?: (person: Person) => Condition }
  /** Replaces the address by a pseudonym, and clears columns, in rows that others need too. */
  | { rename: readonly string[]; clear: readonly string[]; as: Counted }
  /** An eraser of its own removes them, or their parent rows; see erasers.ts. */
  | { by: string }
  | { keep: string }

/** Eraser and key of the number of rows in the proof of an erasure. */
type Counted = readonly [eraser: string, count: string]

/** The end of rows that no erasure concerns. */
type Expiry =
  /** Names of jobs and chores, and of expirers of retention as `retention.NAME`, separated by spaces. */
  | { by: string }
  /** They go with a row of this table, by a foreign key that cascades. */
  | { with: string }
  /** They do not go because of their age. */
  | { never: string }

/** The place of the rows in an export: a file of its own per table, another file, or none and why. */
type Exported = 'records' | { in: string } | { not: string }

/** A table with personal data. Columns that are keys (see `isKey`) need not be listed. */
export interface PersonalTable {
  table: string
  /** Columns with data about a person, separated by spaces. */
  personal: string
  /** The other columns with text. */
  plain: string
  /**
   * Columns that name the caller who made the row or its last change. The row is about something else: an
   * export leaves the name out, and an erasure replaces it by the pseudonym.
   */
  actors?: string
  /** Each condition can use an index of its own; a row may match several of them. */
  find(person: Person): Condition[]
  /** The column of the organization whose legal holds cover the rows. */
  owner?: string
  exported: Exported
  /** Columns that an export leaves out: secrets, and data about others. */
  withheld?: string
  erased: Erasure
  expired: Expiry
}

/** Keys say nothing about a person by themselves; hashes and leases neither. */
export const isKey = (column: string) => /(^|_)(id|hash)$|^lease_owner$/.test(column)

export const words = (text: string): string[] => text.split(' ').filter((word) => word !== '')

/** Rows with the address in one of these columns. */
export const addressIn =
  (...columns: string[]) =>
  ({ email }: Person): Condition[] =>
    columns.map((column) => sql<SqlBool>`${sql.ref(column)} = ${email}`)

/** The names of a person in columns about callers: see `actorOf` in src/access/actor.ts. */
export const namesOf = (email: string): string[] => [email, `user:${email}`, `mailbox:${email}`]

/** Rows with the person as the caller in one of these columns. */
export const actorIn =
  (...columns: string[]) =>
  ({ email }: Person): Condition[] =>
    columns.map((column) => sql<SqlBool>`${sql.ref(column)} = any(${namesOf(email)}::text[])`)

/** Rows of the mailbox. */
export const accountIn =
  (column: string) =>
  ({ account_id }: Person): Condition[] =>
    account_id === null ? [] : [sql<SqlBool>`${sql.ref(column)} = ${account_id}`]

/** Rows that cannot be found by an address; they go with others or stay. */
export const nothing = (): Condition[] => []

/** The pattern of the address itself, without longer addresses that contain it. */
export function mentionPattern(email: string): string {
  const escaped = email.replace(/[^a-z0-9]/gi, '\\$&')
  return `(?<![a-z0-9._%+-])${escaped}(?![a-z0-9-]|\\.[a-z0-9])`
}

/** Rows that mention the address anywhere in these columns. */
export const mentionIn =
  (owner: string, ...columns: string[]) =>
  ({ email, organization_id }: Person): Condition[] => {
    const mentions = columns.map(
      (column) => sql<SqlBool>`${sql.ref(column)}::text ~* ${mentionPattern(email)}`,
    )
    const own = organization_id === null ? sql`true` : sql`${sql.ref(owner)} = ${organization_id}`
    return [sql<SqlBool>`${own} and (${sql.join(mentions, sql` or `)})`]
  }
