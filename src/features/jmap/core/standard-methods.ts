import type { Db } from '../../../database/database.ts'
import { changesSince, type Kind, stateOf } from '../index/change-log.ts'
import {
  type Arguments,
  idsArgument,
  optionalInteger,
  optionalStrings,
  stringArgument,
} from './arguments.ts'
import { invalidArguments, JmapError } from './errors.ts'

/** The properties that a /get call asks for; refuses unknown ones. */
export function propertiesArgument(
  args: Arguments,
  known: readonly string[],
): readonly string[] | undefined {
  const properties = optionalStrings(args, 'properties')
  const unknown = properties?.find((property) => !known.includes(property))
  if (unknown !== undefined) throw invalidArguments(`There is no property ${unknown}`)
  return properties
}

export function pick(object: Record<string, unknown>, properties: readonly string[] | undefined) {
  if (!properties) return object
  const names = [...new Set(['id', ...properties])]
  return Object.fromEntries(names.map((name) => [name, object[name]]))
}

interface Getting {
  db: Db
  accountId: string
  properties: readonly string[]
  /** The objects with these ids, or all. */
  read(ids: string[] | undefined): Promise<(Record<string, unknown> & { id: string })[]>
}

/** RFC 8620 section 5.1. */
export async function getObjects(args: Arguments, { db, accountId, properties, read }: Getting) {
  const ids = idsArgument(args)
  const asked = propertiesArgument(args, properties)
  const state = String(await stateOf(db, accountId))
  const objects = await read(ids)
  const found = new Set(objects.map(({ id }) => id))
  return {
    accountId,
    state,
    list: objects.map((object) => pick(object, asked)),
    notFound: (ids ?? []).filter((id) => !found.has(id)),
  }
}

export function stateNumber(text: string): number {
  const state = Number(text)
  if (!/^\d{1,15}$/.test(text)) throw cannotCalculate()
  return state
}

export const cannotCalculate = () =>
  new JmapError('cannotCalculateChanges', {
    description: 'The state is unknown or too old; read everything again',
  })

/** RFC 8620 section 5.2. */
export async function changesOf(db: Db, accountId: string, kind: Kind, args: Arguments) {
  const oldState = stringArgument(args, 'sinceState')
  const maxChanges = optionalInteger(args, 'maxChanges', 1)
  const since = await changesSince(db, accountId, kind, stateNumber(oldState))
  if (!since) throw cannotCalculate()
  const histories = new Map<string, string[]>()
  let newState = since.state
  let hasMoreChanges = false
  let isCountsOnly = true
  let lastTaken = stateNumber(oldState)
  for (const { object_id, action, counts_only, state } of since.changes) {
    const history = histories.get(object_id)
    if (!history && maxChanges !== undefined && histories.size >= maxChanges) {
      hasMoreChanges = true
      newState = lastTaken
      break
    }
    histories.set(object_id, [...(history ?? []), action])
    if (action === 'updated' && !counts_only) isCountsOnly = false
    lastTaken = state
  }
  const lists = { created: [] as string[], updated: [] as string[], destroyed: [] as string[] }
  for (const [id, history] of histories) {
    const outcome = outcomeOf(history)
    if (outcome) lists[outcome].push(id)
  }
  return {
    result: { accountId, oldState, newState: String(newState), hasMoreChanges, ...lists },
    isCountsOnly: isCountsOnly && lists.updated.length > 0,
  }
}

/** The change for a program that knows the old state; none if it never saw the object. */
function outcomeOf(history: readonly string[]): 'created' | 'updated' | 'destroyed' | undefined {
  const isGone = history.at(-1) === 'destroyed'
  const isNew = history[0] === 'created'
  if (isNew) return isGone ? undefined : 'created'
  return isGone ? 'destroyed' : 'updated'
}

/** RFC 8620 section 5.5: the part of a result that a client asked for. */
export interface Paging {
  position: number
  anchor: string | undefined
  anchorOffset: number
  limit: number | undefined
}

export function pagingArguments(args: Arguments): Paging {
  return {
    position: optionalInteger(args, 'position') ?? 0,
    anchor: typeof args.anchor === 'string' ? args.anchor : undefined,
    anchorOffset: optionalInteger(args, 'anchorOffset') ?? 0,
    limit: optionalInteger(args, 'limit', 0),
  }
}

export function pageOf(ids: readonly string[], { position, anchor, anchorOffset, limit }: Paging) {
  let start = position < 0 ? Math.max(0, ids.length + position) : position
  if (anchor !== undefined) {
    const at = ids.indexOf(anchor)
    if (at === -1) throw new JmapError('anchorNotFound')
    start = Math.max(0, at + anchorOffset)
  }
  return {
    position: start,
    ids: ids.slice(start, limit === undefined ? undefined : start + limit),
  }
}

interface QueryChanging {
  db: Db
  accountId: string
  kind: Kind
  /** The present result. */
  ids: readonly string[]
  /** Objects whose place in the result depends on the changed ones. */
  related?(changed: string[]): Promise<string[]>
}

/**
 * RFC 8620 section 5.6. Everything that changed is named as removed and, where it is in the result,
 * as added again, which the RFC allows.
 */
export async function queryChangesOf(args: Arguments, query: QueryChanging) {
  const { db, accountId, kind, ids } = query
  const oldQueryState = stringArgument(args, 'sinceQueryState')
  const maxChanges = optionalInteger(args, 'maxChanges', 1)
  const since = await changesSince(db, accountId, kind, stateNumber(oldQueryState))
  if (!since) throw cannotCalculate()
  const direct = [...new Set(since.changes.map(({ object_id }) => object_id))]
  const changed = new Set([...direct, ...((await query.related?.(direct)) ?? [])])
  if (maxChanges !== undefined && changed.size > maxChanges) throw new JmapError('tooManyChanges')
  return {
    accountId,
    oldQueryState,
    newQueryState: String(since.state),
    removed: [...changed],
    added: ids.map((id, index) => ({ id, index })).filter(({ id }) => changed.has(id)),
    ...(args.calculateTotal === true && { total: ids.length }),
  }
}
