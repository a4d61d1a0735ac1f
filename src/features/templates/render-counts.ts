import type { Core } from '../../core.ts'
import type { Db } from '../../database/database.ts'
import { periodically } from '../../lib/periodically.ts'
import { SECOND_MS } from '../../lib/time.ts'
import { addRenders } from './templates.repository.ts'

type Needs = Pick<Core, 'db' | 'log' | 'now'>

export type RenderCounts = ReturnType<typeof renderCounts>

// One for each process, shared by the services that render.
const known = new WeakMap<Db, RenderCounts>()

export function renderCountsOf(core: Needs): RenderCounts {
  let found = known.get(core.db)
  if (!found) {
    found = renderCounts(core)
    known.set(core.db, found)
  }
  return found
}

/** Stores the counts that wait, if there was a render at all. */
export const closeRenderCounts = async ({ db }: Pick<Core, 'db'>): Promise<void> =>
  known.get(db)?.stop()

/** Counts renders in memory and stores them once a second. */
function renderCounts({ db, log, now }: Needs) {
  const totals = { rendered: 0, refused: 0 }
  let waiting = new Map<string, number>()
  let writing: ReturnType<typeof periodically> | undefined

  async function write(): Promise<void> {
    if (waiting.size === 0) return
    const counts = waiting
    waiting = new Map()
    try {
      const day = now().toISOString().slice(0, 10)
      await db.transaction().execute((tx) => addRenders(tx, day, counts))
    } catch (error) {
      for (const [id, count] of counts) waiting.set(id, (waiting.get(id) ?? 0) + count)
      throw error
    }
  }

  return {
    totals,
    get waiting() {
      return [...waiting.values()].reduce((sum, count) => sum + count, 0)
    },
    add(templateId: string, count = 1): void {
      totals.rendered += count
      waiting.set(templateId, (waiting.get(templateId) ?? 0) + count)
      writing ??= periodically(SECOND_MS, write, (error) =>
        log.warn({ err: error }, 'storing counts of renders failed'),
      )
    },
    /** Stores at once, for readers of the counts. */
    settled: async (): Promise<void> => writing?.now(),
    async stop(): Promise<void> {
      await writing?.stop()
      writing = undefined
    },
  }
}
