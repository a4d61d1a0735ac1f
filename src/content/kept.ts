import type { Core } from '../core.ts'
import type { Feed } from '../database/listen.ts'

const MAX_KEPT = 10_000

/**
 * What a stage needs to know of an organization, kept until the database tells that it changed.
 * A change that was committed before a message came holds for that message.
 */
export function keptPerOrganization<Known>(
  { listen }: Pick<Core, 'listen'>,
  channel: string,
  read: (organizationId: string) => Promise<Known>,
) {
  const kept = new Map<string, Known>()
  let changes = 0
  let feed: Promise<Feed> | undefined
  const begin = () => {
    feed ??= listen(channel, {
      message(organizationId) {
        changes++
        kept.delete(organizationId)
      },
      subscribed() {
        changes++
        kept.clear()
      },
    }).catch((error) => {
      feed = undefined
      throw error
    })
    return feed
  }

  return {
    async of(organizationId: string): Promise<Known> {
      const heard = await begin()
      await heard.settled()
      const known = kept.get(organizationId)
      if (known !== undefined && heard.connected) return known
      const before = changes
      const fresh = await read(organizationId)
      if (before === changes && heard.connected) {
        if (kept.size >= MAX_KEPT) kept.clear()
        kept.set(organizationId, fresh)
      }
      return fresh
    },
    async close() {
      const heard = await feed?.catch(() => undefined)
      await heard?.close()
    },
  }
}
