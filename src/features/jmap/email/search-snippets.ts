import { type Arguments, idsArgument } from '../core/arguments.ts'
import { invalidArguments } from '../core/errors.ts'
import { type Filter, readFilter } from '../core/filters.ts'
import type { Call } from '../core/method.ts'
import { emailRows } from './emails.repository.ts'
import { filterSql, wordsOf } from './query-filter.ts'
import { parse } from './read-emails.ts'

const BEFORE = 60
const LENGTH = 200
const MAX_SEARCHED = 256 * 1024
const MAX_TEXTS = 20 * MAX_SEARCHED
const MAX_WORDS = 100

/** RFC 8621 section 5: where the words of a search are in messages. */
export async function searchSnippets(call: Call, args: Arguments) {
  const { core, mail } = call
  const ids = idsArgument(args, 'emailIds')
  if (!ids) throw invalidArguments('emailIds must be a list of strings')
  const filter = readFilter(args.filter)
  refuseUnknown(filter, mail.account.id)
  const words = searchedWords(filter).slice(0, MAX_WORDS)
  const rows = await emailRows(core.db, mail.account.id, ids)
  const list = []
  for (const { id, head } of rows) {
    const text = words.length > 0 ? await textOf(call, id) : ''
    const { subject } = head as { subject?: string | null }
    list.push({ emailId: id, subject: marked(subject ?? '', words), preview: marked(text, words) })
  }
  const found = new Set(rows.map(({ id }) => id))
  const notFound = ids.filter((id) => !found.has(id))
  return { accountId: mail.account.id, list, notFound: notFound.length > 0 ? notFound : null }
}

/** The same errors as in Email/query; the conditions that the mail server answers are known there. */
function refuseUnknown(filter: Filter, accountId: string): void {
  const searched = new Map<object, Map<string, string[]>>()
  const visit = (one: Filter) => {
    if ('condition' in one) {
      const empty = ['text', 'body', 'header'].filter((name) => name in one.condition)
      searched.set(one.condition, new Map(empty.map((name) => [name, []])))
    } else one.conditions.forEach(visit)
  }
  visit(filter)
  filterSql(filter, accountId, searched)
}

/** Terms under NOT are not in the text. */
function searchedWords(filter: Filter): string[] {
  if ('condition' in filter) {
    return ['text', 'subject', 'body'].flatMap((name) => {
      const value = filter.condition[name]
      return typeof value === 'string' ? wordsOf(value) : []
    })
  }
  return filter.operator === 'NOT' ? [] : filter.conditions.flatMap(searchedWords)
}

async function textOf(call: Call, emailId: string): Promise<string> {
  const raw = await call.blobs.readEmail(call.mail, emailId)
  if (!raw) return ''
  const wanted = {
    properties: ['bodyValues', 'textBody'],
    bodyProperties: ['partId', 'type'],
    fetchTextBodyValues: true,
    fetchHTMLBodyValues: false,
    fetchAllBodyValues: false,
    maxBodyValueBytes: MAX_SEARCHED,
  }
  const parsed = await parse(call, { raw, blobId: '' }, wanted, MAX_TEXTS)
  const texts = (parsed?.shown.bodyValues ?? {}) as Record<string, { value: string }>
  return Object.values(texts)
    .map(({ value }) => value)
    .join(' ')
    .slice(0, MAX_SEARCHED)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
}

/** The text around the first word as HTML, with all words marked; null when none of them occurs. */
function marked(text: string, words: readonly string[]): string | null {
  const patterns = words
    .filter(Boolean)
    .map((word) => escapeHtml(word).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (patterns.length === 0) return null
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word.toLowerCase())).filter((at) => at >= 0)
  if (places.length === 0) return null
  const start = Math.max(0, Math.min(...places) - BEFORE)
  const excerpt = escapeHtml(text.slice(start, start + LENGTH).toWellFormed())
  return excerpt.replace(new RegExp(patterns.join('|'), 'gi'), '<mark>$&</mark>')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string) => text.replace(/[&<>]/g, (one) => ENTITIES[one] ?? one)
