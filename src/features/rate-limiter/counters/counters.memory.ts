import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import type { Bound, Counters, Question, Subject, Verdict } from './counters.ts'
import { nameOf } from './counters.ts'
import { Tally } from './tally.ts'
import { amountsOf, WINDOWS } from './windows.ts'

const IDLE_MS = HOUR_MS
const INSTANCE_MS = 10 * MINUTE_MS
const MAX_INSTANCES = 100_000

export interface Stored {
  subject: Subject
  counts: object
}

interface Entry {
  subject: Subject
  tally: Tally
  usedAt: number
}

interface Needs {
  load(subject: Subject): Promise<object | undefined>
}

/**
 * Counts in this process. A decision about loaded subjects runs synchronously, so no other decision
 * can interleave; a new subject is first loaded from the database.
 */
export function memoryCounters({ load }: Needs) {
  const entries = new Map<string, Entry>()
  const dirty = new Set<Entry>()
  const loading = new Map<string, Promise<unknown>>()
  const instances = recentNames()

  const read = (subject: Subject, name: string): Promise<unknown> => {
    let under = loading.get(name)
    if (!under) {
      under = load(subject)
        .then((counts) => {
          const tally = Tally.restore(counts as Parameters<typeof Tally.restore>[0])
          entries.set(name, { subject, tally, usedAt: 0 })
        })
        .finally(() => loading.delete(name))
      loading.set(name, under)
    }
    return under
  }

  function judge(question: Question, found: Entry[]): Verdict {
    const { bounds, record, instance, now } = question
    const amounts = amountsOf(question)
    if (instance !== undefined && instances.has(instance)) return { breaches: [] }
    for (const [index, entry] of found.entries()) {
      const bound = bounds[index] as Bound
      const window = entry.tally.fullAt(now, bound.limits, amounts)
      if (window === undefined) continue
      const { name } = WINDOWS[window] as (typeof WINDOWS)[number]
      const count = entry.tally.countAt(now, window)
      const limit = bound.limits[window] as number
      return { refused: { bound, window: name, count, limit }, breaches: [] }
    }
    if (!record) return { breaches: [] }
    if (instance !== undefined) instances.add(instance, now)
    const breaches = found.flatMap((entry, index) => {
      entry.tally.add(now, amounts)
      entry.usedAt = now
      dirty.add(entry)
      return entry.tally.breaches(now, bounds[index] as Bound)
    })
    return { breaches }
  }

  function decide(question: Question): Verdict | Promise<Verdict> {
    const found: Entry[] = []
    for (const { subject } of question.bounds) {
      const name = nameOf(subject)
      const entry = entries.get(name)
      if (!entry) return read(subject, name).then(() => decide(question))
      found.push(entry)
    }
    return judge(question, found)
  }

  const entryOf = async (subject: Subject): Promise<Entry> => {
    const name = nameOf(subject)
    while (!entries.has(name)) await read(subject, name)
    return entries.get(name) as Entry
  }

  return {
    decide,
    usage: async (subject: Subject, now: number) => (await entryOf(subject)).tally.at(now),
    async reset(subject: Subject) {
      const entry = await entryOf(subject)
      entry.tally = new Tally()
      dirty.add(entry)
    },

    /** The number of subjects that changed since the last take. */
    get changed() {
      return dirty.size
    },
    /** Returns the changed subjects; give them back when storing them failed. */
    takeDirty(limit: number): Stored[] {
      const taken: Stored[] = []
      for (const entry of dirty) {
        if (taken.length === limit) break
        dirty.delete(entry)
        taken.push({ subject: entry.subject, counts: entry.tally.save() })
      }
      return taken
    },
    giveBack(stored: Stored[]): void {
      for (const { subject } of stored) {
        const entry = entries.get(nameOf(subject))
        if (entry) dirty.add(entry)
      }
    },
    /** Evicts idle subjects, which are loaded from the database again on demand. */
    forgetIdle(now: number): void {
      for (const [name, entry] of entries) {
        if (!dirty.has(entry) && now - entry.usedAt > IDLE_MS) entries.delete(name)
      }
    },
    forgetAll(): void {
      entries.clear()
      dirty.clear()
      instances.clear()
    },
    get size() {
      return entries.size
    },
  } satisfies Counters & Record<string, unknown>
}

/** A bounded set of recent names in two halves: when the newer half is full, the older one is dropped. */
function recentNames() {
  let newer = new Set<string>()
  let older = new Set<string>()
  let since = 0
  return {
    has: (name: string): boolean => newer.has(name) || older.has(name),
    add(name: string, now: number): void {
      if (now - since > INSTANCE_MS || newer.size === MAX_INSTANCES) {
        older = newer
        newer = new Set()
        since = now
      }
      newer.add(name)
    },
    clear(): void {
      newer.clear()
      older.clear()
    },
  }
}
