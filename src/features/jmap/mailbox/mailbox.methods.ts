import { type Arguments, flagArgument } from '../core/arguments.ts'
import { invalidArguments, JmapError } from '../core/errors.ts'
import { readFilter, readSort, type Sorting, tester } from '../core/filters.ts'
import { LIMITS, MAIL } from '../core/limits.ts'
import type { Call, Method } from '../core/method.ts'
import {
  changesOf,
  getObjects,
  pageOf,
  pagingArguments,
  queryChangesOf,
} from '../core/standard-methods.ts'
import { stateOf } from '../index/change-log.ts'
import { type MailboxRow, mailboxRows } from '../index/mailboxes.repository.ts'
import { COUNTS, MAILBOX_PROPERTIES, shownMailbox } from './mailbox.ts'
import { setMailboxes } from './set-mailboxes.ts'

const get: Method = {
  capability: MAIL,
  run: ({ core: { db }, mail: { account } }, args) =>
    getObjects(args, {
      db,
      accountId: account.id,
      properties: MAILBOX_PROPERTIES,
      read: async (ids) =>
        (await mailboxRows(db, account.id))
          .filter(({ id }) => !ids || ids.includes(id))
          .map((row) => shownMailbox(row, account)),
    }),
}

const changes: Method = {
  capability: MAIL,
  async run({ core: { db }, mail: { account } }, args) {
    const { result, isCountsOnly } = await changesOf(db, account.id, 'Mailbox', args)
    return { ...result, updatedProperties: isCountsOnly ? COUNTS : null }
  },
}

const query: Method = {
  capability: MAIL,
  async run(call, args) {
    const { core, mail } = call
    const queryState = String(await stateOf(core.db, mail.account.id))
    const ids = await matchingIds(call, args)
    return {
      accountId: mail.account.id,
      queryState,
      canCalculateChanges: true,
      ...pageOf(ids, pagingArguments(args)),
      ...(flagArgument(args, 'calculateTotal') && { total: ids.length }),
    }
  },
}

const queryChanges: Method = {
  capability: MAIL,
  async run(call, args) {
    const { core, mail } = call
    const ids = await matchingIds(call, args)
    const shared = { db: core.db, accountId: mail.account.id, kind: 'Mailbox' as const }
    return queryChangesOf(args, { ...shared, ids })
  },
}

async function matchingIds({ core, mail }: Call, args: Arguments): Promise<string[]> {
  const passes = tester(readFilter(args.filter), testOf)
  const given = readSort(args.sort, ['name', 'sortOrder', 'parentId'], LIMITS.collationAlgorithms)
  const sort = given.length > 0 ? given : DEFAULT_SORT
  const all = await mailboxRows(core.db, mail.account.id)
  const byId = new Map(all.map((row) => [row.id, row]))
  let found = all.filter(passes).sort((one, other) => compare(one, other, sort))
  if (flagArgument(args, 'sortAsTree')) found = asTree(found)
  if (flagArgument(args, 'filterAsTree')) {
    found = found.filter((row) => ancestorsOf(row, byId).every(passes))
  }
  return found.map(({ id }) => id)
}

const DEFAULT_SORT: Sorting[] = [
  { property: 'sortOrder', isAscending: true, keyword: undefined },
  { property: 'name', isAscending: true, keyword: undefined },
]

type Test = (row: MailboxRow) => boolean

const isText = (value: unknown): value is string => typeof value === 'string'

function testOf(condition: Record<string, unknown>): Test {
  const tests = Object.entries(condition).map(([property, value]): Test => {
    switch (property) {
      case 'parentId':
        return (row) => row.parent_id === value
      case 'name':
        if (!isText(value)) throw invalidArguments('name must be a string')
        return (row) => row.name.toLowerCase().includes(value.toLowerCase())
      case 'role':
        return (row) => row.role === value
      case 'hasAnyRole':
        return (row) => (row.role !== null) === value
      case 'isSubscribed':
        return (row) => row.is_subscribed === value
      default:
        throw new JmapError('unsupportedFilter', { description: `${property} is not known` })
    }
  })
  return (row) => tests.every((passes) => passes(row))
}

function compare(one: MailboxRow, other: MailboxRow, sort: readonly Sorting[]): number {
  for (const { property, isAscending } of sort) {
    const [first, second] = [keyOf(one, property), keyOf(other, property)]
    if (first !== second) return first < second === isAscending ? -1 : 1
  }
  return one.id < other.id ? -1 : 1
}

function keyOf(row: MailboxRow, property: string): string | number {
  if (property === 'sortOrder') return row.sort_order
  return property === 'name' ? row.name.toLowerCase() : (row.parent_id ?? '')
}

/** Children directly after their parents. A mailbox whose parent is missing comes first. */
function asTree(rows: readonly MailboxRow[]): MailboxRow[] {
  const ids = new Set(rows.map(({ id }) => id))
  const children = (parent: string | null): MailboxRow[] =>
    rows
      .filter(
        ({ parent_id }) => (parent_id !== null && ids.has(parent_id) ? parent_id : null) === parent,
      )
      .flatMap((row) => [row, ...children(row.id)])
  return children(null)
}

function ancestorsOf(row: MailboxRow, byId: ReadonlyMap<string, MailboxRow>): MailboxRow[] {
  const parent = row.parent_id === null ? undefined : byId.get(row.parent_id)
  return parent ? [parent, ...ancestorsOf(parent, byId)] : []
}

export const mailboxMethods: Record<string, Method> = {
  'Mailbox/get': get,
  'Mailbox/changes': changes,
  'Mailbox/query': query,
  'Mailbox/queryChanges': queryChanges,
  'Mailbox/set': { capability: MAIL, isWriting: true, run: setMailboxes },
}
