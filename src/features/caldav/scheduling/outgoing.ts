import type { Tx } from '../../../database/database.ts'
import { ownAddresses, sendableAddresses } from '../../../hosting/sendable-addresses.repository.ts'
import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import type { Holder } from '../login/holder.ts'
import { Refusal } from '../protocol/answers.ts'
import type { Context } from '../protocol/context.ts'
import * as objects from '../store/objects.repository.ts'
import type { OpenCollection } from '../store/open-collection.ts'
import * as outbox from './outbox.repository.ts'
import { ownerEmail } from './owners.repository.ts'
import { mayHavePeople } from './people.ts'
import type { WrittenMessage } from './plan-messages.task.ts'

const TIME_LIMIT_MS = 5000
const MAX_TRIES = 5
/** Messages of one mailbox that may wait for the mail server. */
const MAX_WAITING = 1000

const planTask = taskIn<typeof import('./plan-messages.task.ts')>(
  'features/caldav/scheduling/plan-messages',
)

/** The messages of a change from one version of an object. */
interface Plan {
  etag: string | undefined
  messages: readonly WrittenMessage[]
  merged?: string | undefined
}

/** The messages of the change are not known yet, or belong to another version of the object. */
class PlanNeeded extends Error {}

/** Stores the messages of a change in its transaction. */
export type Enqueue = (
  tx: Tx,
  before: { etag: string; schedule_tag: string | null } | undefined,
) => Promise<Queued>

interface Queued {
  /** The object with the answers that came meanwhile, where it differs from the one that was sent. */
  merged: string | undefined
}

interface Changed {
  collection: OpenCollection
  name: string
  /** The object after the change; null when it is deleted. */
  after: string | null
}

/**
 * Changes an object together with the messages that the change sends. They are written in a worker
 * thread outside of the transaction, for the version that was current then; when another change
 * comes in between, they are written again.
 */
export async function changeWithMessages<Result>(
  context: Pick<Context, 'core' | 'me' | 'request'>,
  changed: Changed,
  work: (tx: Tx, enqueue: Enqueue) => Promise<Result>,
): Promise<Result> {
  const { core, me, request } = context
  const { collection, after } = changed
  const isCalendar = collection.kind === 'calendar'
  let plan: Plan | undefined
  const enqueue: Enqueue = async (tx, before) => {
    const hasPeople = before?.schedule_tag || (after !== null && mayHavePeople(after))
    if (!isCalendar || !hasPeople) return { merged: undefined }
    if (!plan || plan.etag !== before?.etag) throw new PlanNeeded()
    await insertMessages(tx, me, collection, plan.messages, core.now())
    return { merged: plan.merged }
  }
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      return await core.change(request.caller, (tx) => work(tx, enqueue))
    } catch (error) {
      if (!(error instanceof PlanNeeded)) throw error
      plan = await planOf(context, changed)
    }
  }
  throw new Refusal(503, undefined, {
    message: 'The object changes too often; try again in a few seconds',
    headers: { 'retry-after': '5' },
  })
}

async function planOf(
  { core, me, request }: Pick<Context, 'core' | 'me' | 'request'>,
  { collection, name, after }: Changed,
): Promise<Plan> {
  const { db, config } = core
  const stored = collection.stored as NonNullable<OpenCollection['stored']>
  const present = await objects.find(db, stored.id, name)
  const none = { etag: present?.etag, messages: [] }
  const email = await ownerEmail(db, stored.owner)
  const input = {
    before: present?.data ?? null,
    after,
    organizers: await sendableAddresses(db, me),
    attendees: await ownAddresses(db, { email, organization_id: stored.organization_id }),
    // RFC 6638 section 8.1: an attendee deletes its copy without a reply.
    isSilent: after === null && request.headers['schedule-reply'] === 'F',
    keepsAnswers: request.headers['if-schedule-tag-match'] !== undefined,
    now: core.now().toISOString(),
    hostname: config.SVC_MAIL_HOSTNAME,
  }
  const limits = { owner: me.organization_id, timeLimitMs: TIME_LIMIT_MS }
  const plan = await core.workers.run(planTask, input, limits).catch((error) => {
    if (!(error instanceof OutOfTime)) throw error
    return { condition: 'C:valid-calendar-data', message: 'Reading the attendees takes too long' }
  })
  if (!('condition' in plan)) return { ...none, ...plan }
  // An object can always be deleted.
  if (after === null) return none
  throw new Refusal(403, `<${plan.condition}/>`, { message: plan.message })
}

async function insertMessages(
  tx: Tx,
  me: Holder,
  { stored }: OpenCollection,
  messages: readonly WrittenMessage[],
  now: Date,
): Promise<void> {
  if (!stored || messages.length === 0) return
  if ((await outbox.countWaiting(tx, me.id)) + messages.length > MAX_WAITING) {
    throw new Refusal(507, '<D:quota-not-exceeded/>', {
      message: 'Too many invitations of this mailbox wait to be sent; try again later',
    })
  }
  const origin = {
    organization_id: me.organization_id,
    account_id: me.id,
    collection_id: stored.id,
  }
  await outbox.insert(tx, origin, messages, now)
}
