import type { Core } from '../core.ts'
import { openWatchedCache } from '../database/watched-cache.ts'

const MAX_CACHED = 10_000

/**
 * Caches the settings of a stage by organization. A change that was committed before a message
 * arrived applies to that message.
 */
export function settingsPerOrganization<Settings extends object>(
  { listen }: Pick<Core, 'listen'>,
  channel: string,
  read: (organizationId: string) => Promise<Settings>,
) {
  const open = () =>
    openWatchedCache<Settings>(listen, { channel, max: MAX_CACHED, tagsOf: (_, key) => [key] })
  let opening: ReturnType<typeof open> | undefined
  const opened = () => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    async of(organizationId: string): Promise<Settings> {
      const { cache, feed } = await opened()
      await feed.settled()
      return cache.get(organizationId) ?? cache.load(organizationId, () => read(organizationId))
    },
    async close() {
      const last = await opening?.catch(() => undefined)
      await last?.feed.close()
    },
  }
}
