import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { sharedValue } from '../../../lib/cache.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { BlockNeeds } from './block.ts'
import { type BlockName, type BlockValue, blocks } from './blocks.ts'
import { cachedVolume } from './volume.ts'

const FRESH_MS = 1500
const STALE_MS = MINUTE_MS
const TIMEOUT_MS = 2000

const DatabaseLost = defineError({ status: 500, message: 'Database connection failed' })

type Page = { [Name in BlockName]: BlockValue<Name> | null }

export type OverviewService = ReturnType<typeof overviewService>

/**
 * Concurrent requests share one computation, because many consoles poll the overview. A block that fails
 * or is late is null and listed in `degraded`; the other blocks are still returned.
 */
export function overviewService(core: BlockNeeds & Pick<Core, 'log'>) {
  const names = Object.keys(blocks) as BlockName[]
  const volume = cachedVolume(core)
  const cachedBlocks = names.map((name) => {
    const compute = name === 'volume_24h' ? volume : () => blocks[name](core, null)
    return {
      name,
      value: sharedValue<unknown>(compute, { freshMs: FRESH_MS, staleMs: STALE_MS }),
    }
  })

  return {
    async get() {
      const degraded: BlockName[] = []
      const parts = await Promise.all(
        cachedBlocks.map(async ({ name, value }) => {
          try {
            return [name, await value(TIMEOUT_MS)]
          } catch (error) {
            degraded.push(name)
            core.log.warn({ err: error, block: name }, 'computing an overview block failed')
            return [name, null]
          }
        }),
      )
      const page = Object.fromEntries(parts) as Page
      const { organizations, domains, recent_actions } = page
      if (!organizations && !domains && !recent_actions) throw new DatabaseLost()
      return { ...page, degraded: names.filter((name) => degraded.includes(name)) }
    },
  }
}
