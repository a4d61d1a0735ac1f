import type { Tx } from '../../../database/database.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import { FORBIDDEN_CHARACTERS, hasForbiddenCharacters } from '../objects/forbidden-characters.ts'
import type { ObjectFacts } from '../objects/read-object.task.ts'
import { changeWithMessages, type Enqueue } from '../scheduling/outgoing.ts'
import { otherCalendarWith } from '../scheduling/owners.repository.ts'
import { mayHavePeople } from '../scheduling/people.ts'
import * as collections from '../store/collections.repository.ts'
import * as objects from '../store/objects.repository.ts'
import { isReserved, type OpenCollection } from '../store/open-collection.ts'
import { exceedsQuota } from '../store/quota.ts'
import { href, Refusal } from './answers.ts'
import {
  type Context,
  collectionAt,
  type DavCore,
  type Handler,
  prefixOf,
  writable,
} from './context.ts'
import { type Kind, objectPath, type Place } from './places.ts'
import { checkPreconditions, checkScheduleTag, isUnchanged } from './preconditions.ts'
import { MAX_OBJECT_BYTES } from './properties.ts'

const TIME_LIMIT_MS = 5000
const readTask = taskIn<typeof import('../objects/read-object.task.ts')>(
  'features/caldav/objects/read-object',
)

const TYPES: Record<Kind, readonly string[]> = {
  calendar: ['text/calendar'],
  addressbook: ['text/vcard', 'text/x-vcard'],
}
const SUPPORTED: Record<Kind, string> = {
  calendar: '<C:supported-calendar-data/>',
  addressbook: '<A:supported-address-data/>',
}

type ObjectPlace = Extract<Place, { type: 'object' }>

/** Reads an object in a worker thread; refuses what cannot be stored. */
export async function factsOf(
  { workers }: Pick<DavCore, 'workers'>,
  kind: Kind,
  text: string,
  owner: string,
): Promise<ObjectFacts> {
  const limits = { owner, timeLimitMs: TIME_LIMIT_MS }
  const facts = await workers.run(readTask, { kind, text }, limits).catch((error) => {
    if (!(error instanceof OutOfTime)) throw error
    throw new Refusal(403, SUPPORTED[kind], { message: 'Reading the object takes too long' })
  })
  if ('condition' in facts) {
    throw new Refusal(403, `<${facts.condition}/>`, { message: facts.message })
  }
  return facts
}

export const put: Handler = async (context) => {
  const { core, me, place, request, reply, body } = context
  if (place.type !== 'object') throw new Refusal(place.type === 'collection' ? 405 : 403)
  const { kind } = place
  const collection = await collectionAt(context, place).catch((error) => {
    // RFC 4918 section 9.7.1: the collection has to be created first.
    throw error instanceof Refusal && error.status === 404 ? new Refusal(409) : error
  })
  writable(collection)
  const type = String(request.headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase()
  if (type && !TYPES[kind].includes(type)) throw new Refusal(403, SUPPORTED[kind])
  if (body.length > MAX_OBJECT_BYTES)
    throw new Refusal(403, `<${prefixOf(kind)}:max-resource-size/>`)
  const text = textIn(body, kind)
  const facts = await factsOf(core, kind, text, me.organization_id)
  const { headers } = request
  const changed = { collection, name: place.name, after: text }
  const stored = await changeWithMessages(context, changed, (tx, enqueue) =>
    store(tx, core, { collection, place, text, facts, headers, enqueue }),
  )
  return reply
    .code(stored.isNew ? 201 : 204)
    .headers(tagsOf(stored))
    .send()
}

/** An entity tag tells the client that the object is stored as it was sent. */
export const tagsOf = ({ etag, scheduleTag, isAsSent }: Stored): Record<string, string> => ({
  ...(isAsSent && { etag: `"${etag}"` }),
  ...(scheduleTag !== null && { 'schedule-tag': `"${scheduleTag}"` }),
})

/** The text of the body, which is stored byte for byte. */
function textIn(body: Buffer, kind: Kind): string {
  const condition = kind === 'calendar' ? '<C:valid-calendar-data/>' : '<A:valid-address-data/>'
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw new Refusal(403, condition, { message: 'The object is not UTF-8' })
  }
  if (hasForbiddenCharacters(text)) {
    throw new Refusal(403, condition, { message: FORBIDDEN_CHARACTERS })
  }
  return text
}

interface Storing {
  collection: OpenCollection
  place: ObjectPlace
  text: string
  facts: ObjectFacts
  headers: Context['request']['headers']
  /** Stores the messages of the change; without it none are sent. */
  enqueue?: Enqueue
}

interface Stored {
  etag: string
  scheduleTag: string | null
  isNew: boolean
  /** False when answers of attendees were added to the object. */
  isAsSent: boolean
}

/** Stores an object under the lock of its collection. */
export async function store(
  tx: Tx,
  { config, now }: Pick<DavCore, 'config' | 'now'>,
  { collection, place, text, facts, headers, enqueue }: Storing,
): Promise<Stored> {
  const { id, owner } = writable(collection)
  const row = await collections.lock(tx, id)
  if (!row) throw new Refusal(409)
  const { kind } = row
  const prefix = prefixOf(kind)
  if (kind === 'calendar' && !row.components.includes(facts.component ?? '')) {
    throw new Refusal(403, '<C:supported-calendar-component/>', {
      message: `This calendar takes ${row.components.join(', ')}`,
    })
  }
  const named = { uri: place.name, uid: facts.uid }
  const { before, sameUid, used } = await objects.beforePut(tx, owner, id, named)
  checkPreconditions(headers, before?.etag)
  checkScheduleTag(headers, before?.schedule_tag)
  const other =
    sameUid !== null && sameUid !== place.name
      ? sameUid
      : before && before.uid !== facts.uid
        ? place.name
        : undefined
  if (other !== undefined) {
    const path = href(objectPath(kind, place.account, place.uri, other))
    throw new Refusal(403, `<${prefix}:no-uid-conflict>${path}</${prefix}:no-uid-conflict>`)
  }
  const hasPeople = kind === 'calendar' && mayHavePeople(text)
  if (hasPeople) await refuseSecondCopy(tx, collection, place, facts.uid)
  const { merged } = (await enqueue?.(tx, before)) ?? { merged: undefined }
  const data = merged ?? text
  const size = Buffer.byteLength(data)
  const growth = { objects: before ? 0 : 1, bytes: size - (before?.size ?? 0) }
  checkQuota(config, used, growth)
  const etag = sha256(data).slice(0, 32)
  const scheduleTag = hasPeople ? etag : null
  const object = { uri: place.name, etag, data, size, schedule_tag: scheduleTag, ...facts }
  await objects.put(tx, id, object, growth, now())
  return { etag, scheduleTag, isNew: before === undefined, isAsSent: merged === undefined }
}

/** RFC 6638 section 3.2.4.1: messages about an event must find one object. */
async function refuseSecondCopy(
  tx: Tx,
  collection: OpenCollection,
  { account }: ObjectPlace,
  uid: string,
): Promise<void> {
  const { id, owner, uri } = writable(collection)
  const other = await otherCalendarWith(tx, owner, uid, id)
  if (!other) return
  const home = collection.uri.slice(0, collection.uri.length - uri.length)
  const path = href(objectPath('calendar', account, home + other.collection, other.uri))
  const condition = 'C:unique-scheduling-object-resource'
  throw new Refusal(403, `<${condition}>${path}</${condition}>`)
}

function checkQuota(
  config: DavCore['config'],
  used: objects.BeforePut['used'],
  growth: collections.Growth,
): void {
  if (exceedsQuota(config, used, growth)) {
    throw new Refusal(507, '<D:quota-not-exceeded/>', {
      message: 'The calendars and contacts of this mailbox are full; delete some of them',
    })
  }
}

export const remove: Handler = async (context) => {
  const { core, place, request, reply } = context
  if (place.type !== 'object' && place.type !== 'collection') throw new Refusal(403)
  const collection = await collectionAt(context, place)
  const stored = writable(collection)
  if (place.type === 'collection') {
    if (!collection.isOwn) throw new Refusal(403, '<D:need-privileges/>')
    await cancelMeetings(context, collection)
    await core.change(request.caller, (tx) => collections.remove(tx, stored.id))
    return reply.code(204).send()
  }
  await removeWithMessages(context, collection, place.name, (before) => {
    checkPreconditions(request.headers, before.etag)
    checkScheduleTag(request.headers, before.schedule_tag)
  })
  return reply.code(204).send()
}

/**
 * Deletes the meetings of a calendar that are not over, one by one: each sends what deleting it alone
 * would send. When the process is killed, the others are still there, and the client deletes again.
 */
async function cancelMeetings(context: Context, collection: OpenCollection): Promise<void> {
  const { db, now } = context.core
  const from = Math.floor(now().getTime() / 1000)
  for await (const batch of objects.list(db, writable(collection).id, false, { from })) {
    for (const { uri, schedule_tag } of batch) {
      if (schedule_tag === null) continue
      await removeWithMessages(context, collection, uri).catch(unlessGone)
    }
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof Refusal && error.status === 404)) throw error
}

const removeWithMessages = (
  context: Context,
  collection: OpenCollection,
  name: string,
  check: (before: objects.StoredObject) => void = () => {},
) =>
  changeWithMessages(context, { collection, name, after: null }, async (tx, enqueue) => {
    const { id } = writable(collection)
    await collections.lock(tx, id)
    await removeObject(tx, id, name, context.core.now(), async (before) => {
      check(before)
      await enqueue(tx, before)
    })
  })

/** Deletes an object of a locked collection. */
export async function removeObject(
  tx: Tx,
  collectionId: string,
  name: string,
  now: Date,
  check: (before: objects.StoredObject) => unknown = () => {},
): Promise<void> {
  const before = await objects.findPlain(tx, collectionId, name)
  if (!before) throw new Refusal(404)
  await check(before)
  const seq = await collections.advance(tx, collectionId, { objects: -1, bytes: -before.size })
  await objects.remove(tx, collectionId, name, seq, now)
}

export const get: Handler = async (context) => {
  const { place, request, reply } = context
  if (place.type === 'collection') {
    await collectionAt(context, place)
    return reply.type('text/plain; charset=utf-8').send('')
  }
  if (place.type !== 'object') return reply.type('text/plain; charset=utf-8').send('')
  const object = await objectAt(context, place)
  if (!object) throw new Refusal(404)
  const etag = `"${object.etag}"`
  if (isUnchanged(request.headers, object.etag)) return reply.code(304).header('etag', etag).send()
  const match = request.headers['if-match']
  if (match !== undefined) checkPreconditions({ 'if-match': match }, object.etag)
  reply.headers({
    etag,
    'last-modified': new Date(object.modified_at).toUTCString(),
    'content-type':
      place.kind === 'calendar' ? 'text/calendar; charset=utf-8' : 'text/vcard; charset=utf-8',
    'content-length': object.size,
    ...(object.schedule_tag && { 'schedule-tag': `"${object.schedule_tag}"` }),
  })
  return reply.send(request.method === 'HEAD' ? '' : (object.data ?? ''))
}

/** An object of an own collection is read in one query, because most requests are for those. */
async function objectAt(context: Context, place: ObjectPlace) {
  const { kind, uri, name } = place
  if (!isReserved(kind, uri)) {
    return objects.findOwn(context.core.db, context.me.id, { kind, uri }, name)
  }
  const collection = await collectionAt(context, place)
  for await (const [object] of collection.named([name], true)) return object
  return undefined
}
