import { sql } from 'kysely'
import { invalidArguments, JmapError } from '../core/errors.ts'
import { conditionsOf, type Filter } from '../core/filters.ts'
import type { Call } from '../core/method.ts'
import { Refused } from '../imap/connection.ts'
import { mailboxRows } from '../index/mailboxes.repository.ts'
import { type Searched, wordsOf } from './query-filter.ts'

const SEARCHED = ['text', 'body', 'header']
const PATIENCE_MS = 15_000
/** UIDs of one command: the answer is one line, whose length is limited. */
const WINDOW = 30_000

/** Asks the mail server for the conditions that need the text or all fields of messages. */
export async function searchMail(call: Call, filter: Filter): Promise<Searched> {
  const searched = new Map<object, Map<string, string[]>>()
  const end = Date.now() + PATIENCE_MS
  for (const condition of conditionsOf(filter)) {
    for (const property of SEARCHED) {
      if (!(property in condition)) continue
      const criteria = criteriaOf(property, condition[property])
      const only = typeof condition.inMailbox === 'string' ? condition.inMailbox : undefined
      const ids = await search(call, criteria, only, end)
      const found = searched.get(condition) ?? new Map<string, string[]>()
      searched.set(condition, found.set(property, ids))
    }
  }
  return searched
}

type Criteria = (string | Buffer)[]

const literal = (text: string): Buffer => Buffer.from(text.replaceAll('\0', '').toWellFormed())

/** RFC 3501 section 6.4.4. Every word must occur. */
function criteriaOf(property: string, value: unknown): Criteria {
  if (property === 'header') return headerCriteria(value)
  if (typeof value !== 'string') throw invalidArguments(`${property} must be a string`)
  const criteria = wordsOf(value).flatMap((word): Criteria => {
    if (property === 'body') return ['BODY ', literal(word), ' ']
    const fields = ['FROM', 'TO', 'CC', 'BCC', 'SUBJECT']
    return [
      ...fields.flatMap((field) => [`OR ${field} `, literal(word), ' ']),
      'BODY ',
      literal(word),
      ' ',
    ]
  })
  return criteria.length > 0 ? criteria : ['ALL ']
}

function headerCriteria(value: unknown): Criteria {
  const isList = Array.isArray(value) && (value.length === 1 || value.length === 2)
  if (!isList || value.some((one) => typeof one !== 'string')) {
    throw invalidArguments('header must be a list of one or two strings')
  }
  const [name, text = ''] = value as string[]
  return ['HEADER ', literal(name as string), ' ', literal(text), ' ']
}

async function search(call: Call, criteria: Criteria, only: string | undefined, end: number) {
  const { core, mail } = call
  const ids = new Set<string>()
  const imap = await mail.imap()
  for (const { id, path, uid_next } of await mailboxRows(core.db, mail.account.id)) {
    if (only !== undefined && id !== only) continue
    const uids: number[] = []
    for (let from = 1; from < uid_next; from += WINDOW) {
      if (Date.now() > end) throw tooLong()
      const range = [`UID ${from}:${from + WINDOW - 1}`]
      uids.push(...(await searchFolder(imap, path, [...criteria, ...range])))
    }
    const { rows } = await sql<{ email_id: string }>`
      select email_id from jmap_places
      where account_id = ${mail.account.id} and mailbox_id = ${id}
        and uid = any(${uids.map(String)}::text[]::bigint[])`.execute(core.db)
    for (const { email_id } of rows) ids.add(email_id)
  }
  return [...ids]
}

const tooLong = () =>
  new JmapError('unsupportedFilter', {
    description: 'The search takes too long; limit it to a mailbox or use fewer words',
  })

type Imap = Awaited<ReturnType<Call['mail']['imap']>>

async function searchFolder(imap: Imap, path: string, criteria: Criteria): Promise<number[]> {
  const uids: number[] = []
  const pieces = criteria.flatMap((piece): (string | Buffer)[] =>
    typeof piece === 'string' ? [piece] : [`{${piece.length}+}\r\n`, piece],
  )
  try {
    await imap.read(path)
    await imap.wire.command(
      ['UID SEARCH CHARSET UTF-8 ', ...pieces, '\r\n'],
      { literal: 0, answer: 64 * 1024 * 1024 },
      ({ text }) => {
        const list = /^\* SEARCH((?: \d+)*)/i.exec(text)?.[1]
        if (list) uids.push(...list.trim().split(' ').filter(Boolean).map(Number))
      },
    )
  } catch (error) {
    if (!(error instanceof Refused)) throw error
  }
  return uids
}
