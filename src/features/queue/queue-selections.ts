import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { invalidField } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import type { QueueChange, QueuedMessage, QueueStatus } from '../../mail/mail-queue.ts'
import { QueueCountChanged } from './queue.errors.ts'
import { findOwners } from './queue.repository.ts'
import { type askingQueue, by, changeMany, emitOfMany } from './queue-changes.ts'
import { findOfSender, findWhere, isOf, MOST_CHANGED, senderNamed } from './queue-of-sender.ts'
import { domainOfRecipient } from './queue-view.ts'

interface SenderRequest {
  sender: string
  action: QueueChange
  dry_run?: boolean
}

export interface QueueFilter {
  sender?: string
  domain?: string
  recipient?: string
  status?: QueueStatus
  older_than_minutes?: number
  larger_than_bytes?: number
  error_contains?: string
}

interface FilterRequest extends QueueFilter {
  action: QueueChange
  expected_count?: number
}

type Needs = Pick<Core, 'begin' | 'change' | 'db' | 'events' | 'mailQueue' | 'now'> & {
  asked: ReturnType<typeof askingQueue>
}

/** Changes of all messages that have something in common. */
export function queueSelections(needs: Needs) {
  const { begin, change, db, events, mailQueue, now, asked } = needs

  /** Changes the first of these messages, with one event for each organization. */
  async function changeThese(
    caller: Caller,
    action: QueueChange,
    ids: readonly string[],
    more: { sender?: string } = {},
  ) {
    const chosen = ids.slice(0, MOST_CHANGED)
    const ownerOf = await findOwners(db, chosen)
    if (chosen.length > 0) await begin(caller)
    const changed = await asked(() => changeMany(mailQueue, action, chosen))
    await change(caller, async (tx) => {
      if (changed.length === 0) return
      const data = { ...more, ...by(caller) }
      await emitOfMany(events.emit, tx, action, { ids: changed, ownerOf }, data)
    })
    return { changed: changed.length, remaining: ids.length - chosen.length }
  }

  return {
    async ofSender(caller: Caller, sent: SenderRequest) {
      const { action, dry_run = true } = sent
      const sender = senderIn(sent.sender)
      const { ids, summary, queue_error } = await asked(() =>
        findOfSender(mailQueue, action, sender),
      )
      const outcome = dry_run
        ? { changed: 0, remaining: ids.length }
        : await changeThese(caller, action, ids, { sender })
      return { sender, action, dry_run, matched: ids.length, summary, ...outcome, queue_error }
    },

    /** Counts without `expected_count`; with it, changes the messages if their number is that. */
    async byFilter(caller: Caller, { action, expected_count: expected, ...sent }: FilterRequest) {
      const matches = matcher(sent, now())
      const { ids, summary, queue_error } = await asked(() => findWhere(mailQueue, action, matches))
      if (expected !== undefined && expected !== ids.length) {
        throw new QueueCountChanged({ expected, matched: ids.length })
      }
      const outcome =
        expected === undefined
          ? { changed: 0, remaining: ids.length }
          : await changeThese(caller, action, ids)
      return { action, matched: ids.length, summary, ...outcome, queue_error }
    },
  }
}

function senderIn(sent: string): string {
  const sender = senderNamed(sent)
  if (sender !== undefined) return sender
  throw invalidField('sender', 'Must be an e-mail address, or an @ with a domain')
}

/** There is no way to select the whole queue. */
function matcher(sent: QueueFilter, now: Date): (message: QueuedMessage) => boolean {
  const { recipient, older_than_minutes: minutes, larger_than_bytes: bytes } = sent
  const names = Object.entries(sent).filter(([, value]) => value !== undefined)
  if (names.every(([name]) => name === 'status')) {
    throw invalidField('filter', 'Name a sender, domain, recipient, age, size or error')
  }
  const sender = sent.sender === undefined ? undefined : senderIn(sent.sender)
  const domain = sent.domain === undefined ? undefined : toDomainName(sent.domain)
  if (sent.domain !== undefined && !domain) throw invalidField('domain', 'Must be a domain name')
  const error = sent.error_contains?.toLowerCase()
  return (message) =>
    (sent.status === undefined || message.status === sent.status) &&
    (sender === undefined || isOf(sender, message.sender)) &&
    (minutes === undefined || message.arrived.getTime() <= now.getTime() - minutes * MINUTE_MS) &&
    (bytes === undefined || message.size > bytes) &&
    message.recipients.some(
      ({ address, reason }) =>
        (!domain || domainOfRecipient(address) === domain) &&
        (recipient === undefined || address.toLowerCase() === recipient.toLowerCase()) &&
        (error === undefined || reason?.toLowerCase().includes(error)),
    )
}
