import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isDate } from '../core/arguments.ts'
import { invalidArguments, JmapError } from '../core/errors.ts'
import type { Filter } from '../core/filters.ts'

export type Condition = RawBuilder<SqlBool>

/** Messages that the mail server has found for a condition of text, body or header. */
export type Searched = ReadonlyMap<object, ReadonlyMap<string, readonly string[]>>

const TEXT_COLUMNS = {
  from: sql`e.from_text`,
  to: sql`e.to_text`,
  cc: sql`e.cc_text`,
  bcc: sql`e.bcc_text`,
  subject: sql`e.subject`,
} as const

/** A filter as a condition of SQL about a row `e` of jmap_emails. */
export function filterSql(filter: Filter, accountId: string, searched: Searched): Condition {
  if ('condition' in filter) return conditionSql(filter.condition, accountId, searched)
  const parts = filter.conditions.map((inner) => filterSql(inner, accountId, searched))
  if (parts.length === 0) return filter.operator === 'OR' ? sql<SqlBool>`false` : sql<SqlBool>`true`
  switch (filter.operator) {
    case 'AND':
      return sql<SqlBool>`(${sql.join(parts, sql` and `)})`
    case 'OR':
      return sql<SqlBool>`(${sql.join(parts, sql` or `)})`
    case 'NOT':
      return sql<SqlBool>`not (${sql.join(parts, sql` or `)})`
  }
}

function conditionSql(
  condition: Record<string, unknown>,
  accountId: string,
  searched: Searched,
): Condition {
  const parts = Object.entries(condition).map(([property, value]) => {
    const found = searched.get(condition)?.get(property)
    if (found) return sql<SqlBool>`e.id = any(${[...found]}::text[])`
    return propertySql(property, value, accountId)
  })
  return parts.length > 0 ? sql<SqlBool>`(${sql.join(parts, sql` and `)})` : sql<SqlBool>`true`
}

function propertySql(property: string, value: unknown, accountId: string): Condition {
  switch (property) {
    case 'inMailbox':
      return inMailboxes(accountId, sql`p.mailbox_id = ${text(property, value)}`)
    case 'inMailboxOtherThan':
      return inMailboxes(accountId, sql`p.mailbox_id <> all(${texts(property, value)}::text[])`)
    case 'before':
      return sql<SqlBool>`e.received_at < ${date(property, value)}::timestamptz`
    case 'after':
      return sql<SqlBool>`e.received_at >= ${date(property, value)}::timestamptz`
    case 'minSize':
      return sql<SqlBool>`e.size >= ${number(property, value)}::bigint`
    case 'maxSize':
      return sql<SqlBool>`e.size < ${number(property, value)}::bigint`
    case 'hasKeyword':
      return hasKeyword(sql`e.keywords`, keyword(property, value))
    case 'notKeyword':
      return sql<SqlBool>`not ${hasKeyword(sql`e.keywords`, keyword(property, value))}`
    case 'allInThreadHaveKeyword':
      return sql<SqlBool>`not ${inThread(accountId, keyword(property, value), sql`not`)}`
    case 'someInThreadHaveKeyword':
      return inThread(accountId, keyword(property, value), sql``)
    case 'noneInThreadHaveKeyword':
      return sql<SqlBool>`not ${inThread(accountId, keyword(property, value), sql``)}`
    case 'hasAttachment':
      if (typeof value !== 'boolean') throw invalidArguments('hasAttachment must be true or false')
      return sql<SqlBool>`e.has_attachment = ${value}::boolean`
    case 'from':
    case 'to':
    case 'cc':
    case 'bcc':
    case 'subject':
      return containsAll(TEXT_COLUMNS[property], text(property, value))
    default:
      throw new JmapError('unsupportedFilter', { description: `${property} is not known` })
  }
}

const inMailboxes = (
  accountId: string,
  which: RawBuilder<unknown>,
): Condition => sql<SqlBool>`exists (
  select from jmap_places p where p.account_id = ${accountId} and p.email_id = e.id and ${which})`

const hasKeyword = (column: RawBuilder<unknown>, word: string): Condition =>
  sql<SqlBool>`${word} = any(${column})`

/** Matches if a message of the thread has the keyword, or with `not` lacks it. */
export const inThread = (
  accountId: string,
  word: string,
  negation: RawBuilder<unknown>,
): Condition => sql<SqlBool>`exists (
  select from jmap_emails t
  where t.account_id = ${accountId} and t.thread_id = e.thread_id and not t.is_orphan
    and ${negation} ${word} = any(t.keywords))`

/** Every word must occur; text in quotes is one word. */
export function wordsOf(value: string): string[] {
  const quoted = /^(["'])(.*)\1$/s.exec(value.trim())?.[2]
  return quoted === undefined ? value.split(/\s+/).filter(Boolean).slice(0, 20) : [quoted]
}

function containsAll(column: RawBuilder<unknown>, value: string): Condition {
  const parts = wordsOf(value).map(
    (word) => sql<SqlBool>`strpos(lower(${column}), ${word.toLowerCase()}) > 0`,
  )
  return parts.length > 0 ? sql<SqlBool>`(${sql.join(parts, sql` and `)})` : sql<SqlBool>`true`
}

function text(property: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidArguments(`${property} must be a string`)
  return value.replaceAll('\0', '').toWellFormed()
}

const keyword = (property: string, value: unknown) => text(property, value).toLowerCase()

function texts(property: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw invalidArguments(`${property} must be a list`)
  return value.map((one) => text(property, one))
}

function date(property: string, value: unknown): string {
  if (!isDate(value)) throw invalidArguments(`${property} must be a date`)
  return value
}

function number(property: string, value: unknown): number {
  if (!Number.isSafeInteger(value)) throw invalidArguments(`${property} must be a whole number`)
  return value as number
}
