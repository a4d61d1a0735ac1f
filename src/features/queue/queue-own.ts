import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { limiter, namedMutex } from '../../lib/mutex.ts'
import { isQueueId, type QueuedMessage } from '../../mail/mail-queue.ts'
import { QueuedMessageNotFound } from './queue.errors.ts'
import { findDomainNames, findOwners } from './queue.repository.ts'
import { type askingQueue, changer } from './queue-changes.ts'
import type { Owner } from './queue-owners.ts'
import { messageOf, SHOWN } from './queue-view.ts'

type Needs = Pick<Core, 'begin' | 'change' | 'db' | 'events' | 'mailQueue'> & {
  asked: ReturnType<typeof askingQueue>
}

/** A queue with more messages of one organization is a matter for operators. */
const MOST = 20_000
const MOST_WALKS = 2

/**
 * Waiting mail of an organization: the login that sent it belongs to the organization, and Postfix has
 * checked that the login may use the sender. Each list is a program that reads the whole queue, so an
 * organization has one at a time, and all of them a few: many requests of one do not delay the others.
 */
export function ownQueue(needs: Needs) {
  const { db, mailQueue, asked } = needs
  const changeFound = changer(needs)
  const inTurn = namedMutex()
  const limited = limiter(MOST_WALKS)

  return {
    async own({ scope }: Pick<Caller, 'scope'>) {
      const domains = await findDomainNames(db, scope)
      const candidates: QueuedMessage[] = []
      let left = 0
      const walk = () =>
        mailQueue.walk((message) => {
          if (!domains.has(domainOf(message.sender).toLowerCase())) return
          if (candidates.length < MOST) candidates.push(message)
          else left++
        })
      const turn = scope === 'platform' ? scope : scope.organization
      const problem = await asked(() => inTurn([turn], () => limited(walk)))
      const ownerOf = await findOwners(
        db,
        candidates.map(({ queue_id }) => queue_id),
      )
      const own = candidates.filter(({ queue_id, sender }) =>
        isOwn(domains, sender, ownerOf(queue_id)),
      )
      return {
        messages: own.slice(0, SHOWN).map(messageOf),
        total: own.length,
        queue_error: problem ?? (left > 0 ? `${left} more messages were not looked at` : null),
      }
    },

    async deleteOwn(caller: Caller, queue_id: string) {
      const owner = isQueueId(queue_id) ? (await findOwners(db, [queue_id]))(queue_id) : undefined
      const isVisible = caller.scope === 'platform' || owner?.org_id === caller.scope.organization
      if (!owner || owner.org_id === null || !isVisible) throw new QueuedMessageNotFound()
      const domains = await findDomainNames(db, caller.scope)
      const found = await asked(() => mailQueue.headers(queue_id))
      if (!found || !isOwn(domains, found.sender, owner)) throw new QueuedMessageNotFound()
      await changeFound(caller, queue_id, 'delete', owner)
      return { queue_id, deleted: true as const }
    },
  }
}

/** The login and the domain of the sender belong to the same organization. */
const isOwn = (domains: ReadonlyMap<string, string>, sender: string, { org_id }: Owner): boolean =>
  org_id !== null && domains.get(domainOf(sender).toLowerCase()) === org_id
