import type { Core } from '../core.ts'
import type { SuppressionType } from '../features/suppressions/suppressions.repository.ts'
import { findBlock, findSuppression } from './refusals.repository.ts'

const MAX_KEPT = 50_000

/** What was found out about an address, until when it holds. */
interface Known {
  text: string | undefined
  until: number
}

const WHY: Record<SuppressionType, string> = {
  BOUNCE: 'mail to it has bounced',
  COMPLAINT: 'its owner has complained about mail of yours',
  UNSUBSCRIBE: 'its owner has unsubscribed',
  MANUAL: 'somebody of your organization has entered it',
}

export type Refusals = Awaited<ReturnType<typeof startRefusals>>

/**
 * Whom an organization does not write to, and whose mail it does not take, in memory. Triggers tell
 * of every change; while that may be missed, the database is asked every time.
 */
export async function startRefusals({ db, listen, now }: Pick<Core, 'db' | 'listen' | 'now'>) {
  const kept = new Map<string, Known>()
  let evictions = 0
  const feed = await listen('mailplane_refusals', {
    message(payload) {
      evictions++
      if (payload.split(' ').length > 2) kept.delete(payload)
      else for (const key of kept.keys()) if (key.startsWith(`${payload} `)) kept.delete(key)
    },
    subscribed() {
      evictions++
      kept.clear()
    },
  })

  async function learn(key: string, read: () => Promise<Known>): Promise<string | undefined> {
    const before = evictions
    const known = await read()
    if (before === evictions) {
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(key, known)
    }
    return known.text
  }

  function find(key: string, read: () => Promise<Known>) {
    const known = kept.get(key)
    const isGood = known && feed.connected && now().getTime() < known.until
    return isGood ? known.text : learn(key, read)
  }

  return {
    /** Why an organization does not write to this address; undefined when it does. */
    suppressed: (organizationId: string, recipient: string) =>
      find(`suppressed ${organizationId} ${recipient}`, async () => {
        const row = await findSuppression(db, organizationId, recipient, now())
        if (!row) return { text: undefined, until: Number.POSITIVE_INFINITY }
        const until =
          row.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.expires_at)
        return { text: `the address is suppressed: ${WHY[row.type]}`, until }
      }),

    /** Why an organization takes no mail of this sender; undefined when it does. */
    blocked: (organizationId: string, sender: string) =>
      find(`blocked ${organizationId} ${sender}`, async () => {
        const row = await findBlock(db, organizationId, sender)
        const text = row && 'the recipient takes no mail from this sender'
        return { text, until: Number.POSITIVE_INFINITY }
      }),

    close: () => feed.close(),
  }
}
