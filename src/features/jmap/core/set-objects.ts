import { type Arguments, objectArgument, optionalIds, optionalString } from './arguments.ts'
import { JmapError } from './errors.ts'
import { LIMITS } from './limits.ts'

export type Patch = Record<string, unknown>

/** Functions that create, update and destroy objects of a kind. Each may throw a `JmapError`. */
export interface Setter {
  /** The state before and after. */
  state(): Promise<string>
  /** Returns what the server has set by itself, with the id. */
  create(object: Patch, creationId: string): Promise<{ id: string } & Record<string, unknown>>
  /** Returns what the server has changed beyond the patch, or null. */
  update(id: string, patch: Patch): Promise<object | null>
  destroy(id: string): Promise<void>
}

export interface SetResult {
  oldState: string
  newState: string
  created: Record<string, object> | null
  updated: Record<string, object | null> | null
  destroyed: string[] | null
  notCreated: Record<string, object> | null
  notUpdated: Record<string, object> | null
  notDestroyed: Record<string, object> | null
}

/** RFC 8620 section 5.3. An object that fails does not stop the others. */
export async function setObjects(
  args: Arguments,
  createdIds: Map<string, string>,
  setter: Setter,
): Promise<SetResult> {
  const create = objectArgument(args, 'create')
  const update = objectArgument(args, 'update')
  const destroy = optionalIds(args, 'destroy') ?? []
  const count = Object.keys(create).length + Object.keys(update).length + destroy.length
  if (count > LIMITS.maxObjectsInSet) {
    throw new JmapError('requestTooLarge', {
      description: `Change at most ${LIMITS.maxObjectsInSet} objects at once`,
    })
  }
  const oldState = await setter.state()
  const expected = optionalString(args, 'ifInState')
  if (expected !== undefined && expected !== oldState) throw new JmapError('stateMismatch')
  const created: Record<string, object> = {}
  const updated: Record<string, object | null> = {}
  const destroyed: string[] = []
  const notCreated: Record<string, object> = {}
  const notUpdated: Record<string, object> = {}
  const notDestroyed: Record<string, object> = {}
  for (const [creationId, object] of Object.entries(create)) {
    await attempt(notCreated, creationId, async () => {
      const made = await setter.create(object, creationId)
      createdIds.set(creationId, made.id)
      created[creationId] = made
    })
  }
  for (const [reference, patch] of Object.entries(update)) {
    const id = resolved(reference, createdIds)
    await attempt(notUpdated, reference, async () => {
      if (destroy.includes(id)) throw new JmapError('willDestroy')
      updated[reference] = await setter.update(id, patch)
    })
  }
  for (const reference of new Set(destroy)) {
    await attempt(notDestroyed, reference, async () => {
      await setter.destroy(resolved(reference, createdIds))
      destroyed.push(reference)
    })
  }
  return {
    oldState,
    newState: await setter.state(),
    created: orNull(created),
    updated: orNull(updated),
    destroyed: destroyed.length > 0 ? destroyed : null,
    notCreated: orNull(notCreated),
    notUpdated: orNull(notUpdated),
    notDestroyed: orNull(notDestroyed),
  }
}

async function attempt(
  failures: Record<string, object>,
  key: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof JmapError)) throw error
    failures[key] = error.toJSON()
  }
}

/** `#k1` stands for the object that was created as `k1`. */
export const resolved = (reference: string, createdIds: ReadonlyMap<string, string>): string =>
  reference.startsWith('#') ? (createdIds.get(reference.slice(1)) ?? reference) : reference

export const orNull = <Value>(map: Record<string, Value>): Record<string, Value> | null =>
  Object.keys(map).length > 0 ? map : null
