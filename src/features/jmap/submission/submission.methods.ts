import { type Arguments, flagArgument, isDate, utcDate } from '../core/arguments.ts'
import { invalidArguments, JmapError } from '../core/errors.ts'
import { readFilter, readSort, type Sorting, tester } from '../core/filters.ts'
import { LIMITS, SUBMISSION } from '../core/limits.ts'
import type { Call, Method } from '../core/method.ts'
import {
  changesOf,
  getObjects,
  pageOf,
  pagingArguments,
  queryChangesOf,
} from '../core/standard-methods.ts'
import { stateOf } from '../index/change-log.ts'
import { setSubmissions } from './set-submissions.ts'
import { type SubmissionRow, submissionRows } from './submissions.repository.ts'

const PROPERTIES = [
  ...['id', 'identityId', 'emailId', 'threadId', 'envelope', 'sendAt', 'undoStatus'],
  ...['deliveryStatus', 'dsnBlobIds', 'mdnBlobIds'],
]

const shownSubmission = (row: SubmissionRow) => ({
  id: row.id,
  identityId: row.identity_id,
  emailId: row.email_id,
  threadId: row.thread_id,
  envelope: row.envelope,
  sendAt: utcDate(row.send_at),
  undoStatus: 'final',
  deliveryStatus: row.delivery_status,
  dsnBlobIds: [],
  mdnBlobIds: [],
})

const get: Method = {
  capability: SUBMISSION,
  run: ({ core: { db }, mail: { account } }, args) =>
    getObjects(args, {
      db,
      accountId: account.id,
      properties: PROPERTIES,
      read: async (ids) => {
        const rows = await submissionRows(db, account.id, ids)
        if (rows.length > LIMITS.maxObjectsInGet) throw new JmapError('requestTooLarge')
        return rows.map(shownSubmission)
      },
    }),
}

const changes: Method = {
  capability: SUBMISSION,
  run: async ({ core, mail }, args) =>
    (await changesOf(core.db, mail.account.id, 'EmailSubmission', args)).result,
}

const query: Method = {
  capability: SUBMISSION,
  async run(call, args) {
    const accountId = call.mail.account.id
    const queryState = String(await stateOf(call.core.db, accountId))
    const ids = await matchingIds(call, args)
    return {
      accountId,
      queryState,
      canCalculateChanges: true,
      ...pageOf(ids, pagingArguments(args)),
      ...(flagArgument(args, 'calculateTotal') && { total: ids.length }),
    }
  },
}

const queryChanges: Method = {
  capability: SUBMISSION,
  run: async (call, args) =>
    queryChangesOf(args, {
      db: call.core.db,
      accountId: call.mail.account.id,
      kind: 'EmailSubmission',
      ids: await matchingIds(call, args),
    }),
}

async function matchingIds({ core, mail }: Call, args: Arguments): Promise<string[]> {
  const passes = tester(readFilter(args.filter), testOf)
  const sort = readSort(
    args.sort,
    ['emailId', 'threadId', 'sentAt', 'sendAt'],
    LIMITS.collationAlgorithms,
  )
  const rows = (await submissionRows(core.db, mail.account.id)).filter(passes)
  return rows.sort((one, other) => compare(one, other, sort)).map(({ id }) => id)
}

type Test = (row: SubmissionRow) => boolean

function testOf(condition: Record<string, unknown>): Test {
  const tests = Object.entries(condition).map(([property, value]): Test => {
    switch (property) {
      case 'identityIds':
        return (row) => listOf(property, value).includes(row.identity_id)
      case 'emailIds':
        return (row) => listOf(property, value).includes(row.email_id)
      case 'threadIds':
        return (row) => listOf(property, value).includes(row.thread_id)
      case 'undoStatus':
        return () => value === 'final'
      case 'before':
        return (row) => timeOf(row) < dateOf(property, value)
      case 'after':
        return (row) => timeOf(row) >= dateOf(property, value)
      default:
        throw new JmapError('unsupportedFilter', { description: `${property} is not known` })
    }
  })
  return (row) => tests.every((passes) => passes(row))
}

function listOf(property: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw invalidArguments(`${property} must be a list`)
  return value
}

function dateOf(property: string, value: unknown): number {
  if (!isDate(value)) throw invalidArguments(`${property} must be a date`)
  return Date.parse(value)
}

const timeOf = ({ send_at }: SubmissionRow) => new Date(send_at).getTime()

function compare(one: SubmissionRow, other: SubmissionRow, sort: readonly Sorting[]): number {
  for (const { property, isAscending } of sort) {
    const [first, second] = [keyOf(one, property), keyOf(other, property)]
    if (first !== second) return first < second === isAscending ? -1 : 1
  }
  return timeOf(one) - timeOf(other) || (one.id < other.id ? -1 : 1)
}

function keyOf(row: SubmissionRow, property: string): string | number {
  if (property === 'emailId') return row.email_id
  return property === 'threadId' ? row.thread_id : timeOf(row)
}

export const submissionMethods: Record<string, Method> = {
  'EmailSubmission/get': get,
  'EmailSubmission/changes': changes,
  'EmailSubmission/query': query,
  'EmailSubmission/queryChanges': queryChanges,
  'EmailSubmission/set': { capability: SUBMISSION, isWriting: true, run: setSubmissions },
}
