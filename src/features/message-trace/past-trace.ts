import { organizationOf, type Scope } from '../../database/scope.ts'
import { inCopies, isoOfMicros, microsOf, type PastDays } from '../../hosting/past-days.ts'
import type { Position } from '../../http/cursor.ts'
import { ch, column, type Fragment } from '../../outbound/clickhouse.ts'
import type { Attempt, TraceFilter } from './trace.repository.ts'

/*
 * The conditions of the trace for days that are in ClickHouse. Each has the meaning of its counterpart in
 * trace.repository.ts.
 */

const containing = (name: string, text: string): Fragment =>
  text === ''
    ? ch`isNotNull(${column(name)})`
    : ch`positionCaseInsensitiveUTF8(${column(name)}, ${text}) > 0`

const isMessage = (bothForms: string[]) => ch`message_id in ${bothForms}`

/** The Message-ID without and with its angle brackets. */
export const formsOf = (messageId: string): string[] => {
  const bare = messageId.replace(/^<|>$/g, '')
  return [bare, `<${bare}>`]
}

function conditions(filter: TraceFilter): Fragment[] {
  const tests: Fragment[] = []
  for (const name of ['sender', 'recipient'] as const) {
    const value = filter[name]?.toLowerCase()
    if (value === undefined) continue
    tests.push(/^.+@.+$/.test(value) ? ch`${column(name)} = ${value}` : containing(name, value))
  }
  const { subject, message_id, organization_id, login, direction, after, from, to } = filter
  if (subject !== undefined) tests.push(containing('subject', subject))
  if (message_id !== undefined) tests.push(isMessage(formsOf(message_id)))
  if (organization_id !== undefined) tests.push(ch`organization_id = ${organization_id}`)
  if (login !== undefined) tests.push(ch`lowerUTF8(sasl_username) = ${login.trim().toLowerCase()}`)
  if (direction === 'inbound') tests.push(ch`isNull(sasl_username)`)
  if (direction === 'outbound') tests.push(ch`isNotNull(sasl_username)`)
  if (after) tests.push(ch`at <= ${after.at}`, ch`(at < ${after.at} or id < ${after.id})`)
  if (from) tests.push(ch`at >= ${microsOf(from)}`)
  if (to) tests.push(ch`at <= ${microsOf(to)}`)
  if (filter.status !== undefined) tests.push(ch`status = ${filter.status}`)
  if (filter.isLast) tests.push(ch`superseded = 0`)
  return tests
}

/** Numbers of 64 bits come as text. */
interface Key {
  at: string
  id: string
}

/** The places of the newest rows in these copies, which are asked from the newest on. */
export async function newest(
  past: PastDays,
  copies: string[],
  filter: TraceFilter,
  limit: number,
): Promise<Position[]> {
  const found: Position[] = []
  let left = copies
  // Twice as many days each time: most pages are full after one, and a rare row takes few queries.
  for (let days = 1; left.length > 0 && found.length < limit; days *= 2) {
    const rows = await past.store().select<Key>(ch`
      select at, id ${inCopies(left.slice(-days), conditions(filter))}
      order by at desc, id desc limit ${limit - found.length}`)
    found.push(...rows.map(({ at, id }) => ({ at: Number(at), id })))
    left = left.slice(0, -days)
  }
  return found
}

/** Stops at `most`. */
export async function count(
  past: PastDays,
  copies: string[],
  filter: TraceFilter,
  most: number,
): Promise<number> {
  const [counted] = await past.store().select<{ total: string }>(ch`
    select count() as total from (
      select 1 ${inCopies(copies, conditions(filter))} limit ${most})`)
  return Number(counted?.total ?? 0)
}

type Stored = Omit<Attempt, 'timestamp' | 'quarantine_id'> & Key

const columns = ch`id, at, sender, recipient, subject, status, message_id, size, relay, dsn, spam_score,
  bounce_reason, queue_id, sasl_username as login, credential_id`

const attemptOf = ({ at, id, ...row }: Stored): Attempt => ({
  id,
  timestamp: isoOfMicros(Number(at)),
  ...row,
  quarantine_id: null,
})

/** The rows at these places, in any order. */
export async function rowsAt(past: PastDays, places: Position[]): Promise<Attempt[]> {
  const times = places.map(({ at }) => at)
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const range = { from: new Date(from / 1000), to: new Date(to / 1000) }
  const copies = places.length === 0 ? [] : await past.copiesIn(range)
  if (copies.length === 0) return []
  const tests = [ch`at in ${times}`, ch`id in ${places.map(({ id }) => id)}`]
  const rows = await past.store().select<Stored>(ch`select ${columns} ${inCopies(copies, tests)}`)
  return rows.map(attemptOf)
}

/** The attempts of one message, oldest first. */
export async function ofMessage(
  past: PastDays,
  scope: Scope,
  messageId: string,
  limit: number,
): Promise<Attempt[]> {
  const copies = await past.copiesIn({})
  if (copies.length === 0) return []
  const tests = [isMessage(formsOf(messageId))]
  const organization = organizationOf(scope)
  if (organization !== null) tests.push(ch`organization_id = ${organization}`)
  const rows = await past.store().select<Stored>(ch`
    select ${columns} ${inCopies(copies, tests)} order by at, id limit ${limit}`)
  return rows.map(attemptOf)
}
