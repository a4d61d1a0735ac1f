import type { Core } from '../core.ts'
import { openWatchedCache } from '../database/watched-cache.ts'
import { SUPPRESSION_TYPES, type SuppressionType } from '../hosting/suppressions.repository.ts'
import { findBlock, findSuppression } from './refusals.repository.ts'

const MAX_CACHED = 50_000

/** The reason for a refusal, if there is one, and when it ends. */
interface Verdict {
  text: string | undefined
  until: number
}

const WHY: Record<SuppressionType, string> = {
  BOUNCE: 'mail to it has bounced',
  COMPLAINT: 'its owner has complained about mail of yours',
  UNSUBSCRIBE: 'its owner has unsubscribed',
  MANUAL: 'a member of your organization has entered it',
}

const PERSONAL_TYPES: readonly SuppressionType[] = ['MANUAL']

export type Refusals = Awaited<ReturnType<typeof startRefusals>>

/**
 * Caches the recipients that an organization does not write to and the senders whose mail it does
 * not accept. While changes may be missed, the database is read every time.
 */
export async function startRefusals({ db, listen, now }: Pick<Core, 'db' | 'listen' | 'now'>) {
  // A message names one verdict, or all of a kind of one organization.
  const { cache, feed } = await openWatchedCache<Verdict>(listen, {
    channel: 'mailplane_refusals',
    max: MAX_CACHED,
    tagsOf: (_verdict, key) => [withoutKind(key), key.split(' ', 2).join(' ')],
  })

  function find(key: string, read: () => Promise<Verdict>) {
    const cached = cache.get(key)
    if (cached && now().getTime() < cached.until) return cached.text
    return cache.load(key, read).then(({ text }) => text)
  }

  return {
    /**
     * The reason why mail to this recipient is suppressed, or undefined. A person may write to an
     * address that applications must not write to; what a colleague entered by hand applies to all.
     */
    suppressed: (organizationId: string, recipient: string, kind: 'bulk' | 'personal') =>
      find(`suppressed ${organizationId} ${recipient}\n${kind}`, async () => {
        const types = kind === 'personal' ? PERSONAL_TYPES : SUPPRESSION_TYPES
        const row = await findSuppression(db, organizationId, recipient, types, now())
        if (!row) return { text: undefined, until: Number.POSITIVE_INFINITY }
        const until =
          row.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.expires_at)
        return { text: `the address is suppressed: ${WHY[row.type]}`, until }
      }),

    /** The reason why mail of this sender is blocked, or undefined. */
    blocked: (organizationId: string, sender: string) =>
      find(`blocked ${organizationId} ${sender}`, async () => {
        const row = await findBlock(db, organizationId, sender)
        const text = row && 'the recipient takes no mail from this sender'
        return { text, until: Number.POSITIVE_INFINITY }
      }),

    close: () => feed.close(),
  }
}

const withoutKind = (key: string): string => key.replace(/\n\w+$/, '')
