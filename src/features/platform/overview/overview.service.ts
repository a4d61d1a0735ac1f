import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { keptValue } from '../../../lib/kept-value.ts'
import type { BlockNeeds } from './blocks/block.ts'
import { type BlockName, type BlockValue, blocks } from './blocks/index.ts'
import { rememberedVolume } from './blocks/volume.ts'

const FRESH_MS = 1500
const STALE_MS = 60_000
const PATIENCE_MS = 2000

export const DatabaseLost = defineError({ status: 500, message: 'Database connection failed' })

type Page = { [Name in BlockName]: BlockValue<Name> | null }

export type OverviewService = ReturnType<typeof overviewService>

/**
 * Many consoles ask every minute, so all of them share one computation. Blocks stand on their own:
 * what cannot be computed in time is null and named, and the rest of the page is still worth reading.
 */
export function overviewService(core: BlockNeeds & Pick<Core, 'log'>) {
  const names = Object.keys(blocks) as BlockName[]
  const volume = rememberedVolume(core)
  const kept = names.map((name) => {
    const compute = name === 'volume_24h' ? volume : () => blocks[name](core, null)
    return {
      name,
      value: keptValue<unknown>(compute, { freshMs: FRESH_MS, staleMs: STALE_MS }),
    }
  })

  return {
    async get() {
      const degraded: BlockName[] = []
      const parts = await Promise.all(
        kept.map(async ({ name, value }) => {
          try {
            return [name, await value(PATIENCE_MS)]
          } catch (error) {
            degraded.push(name)
            core.log.warn({ err: error, block: name }, 'a block of the overview failed')
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
