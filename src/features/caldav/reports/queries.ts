import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import { childOf, childrenOf, type Element, elementsOf, textOf } from '../../../lib/xml.ts'
import { rangeIn } from '../objects/time-range.ts'
import { Refusal, sendMultistatus, truncated } from '../protocol/answers.ts'
import { type Context, collectionAt, type Handler, type InCollection } from '../protocol/context.ts'
import { type Place, pathOf } from '../protocol/places.ts'
import { responseOf, type Wanted, wantedIn } from '../protocol/responses.ts'
import type { Narrowing, StoredObject } from '../store/objects.repository.ts'
import type { OpenCollection } from '../store/open-collection.ts'
import { CALDAV, CARDDAV } from '../xml/names.ts'
import { checkFilter, invalid } from './check-filter.ts'
import { asAsked, shapeIn } from './data-as-asked.ts'
import { unsupported } from './unsupported.ts'
import { zoneOfReport } from './zone-of-report.ts'

const TIME_LIMIT_MS = 5000
const matchTask = taskIn<typeof import('../objects/match-objects.task.ts')>(
  'features/caldav/objects/match-objects',
)

const STORED = ['VEVENT', 'VTODO', 'VJOURNAL']
const COLLATIONS = ['i;ascii-casemap', 'i;unicode-casemap', 'i;octet', 'default']

/** Collections and their objects have the queries (RFC 4791 section 7, RFC 6352 section 8). */
const isInCollection = (place: Place): place is InCollection =>
  place.type === 'collection' || place.type === 'object'

export const calendarQuery: Handler = async (context) => {
  const { place, reply, root } = context
  if (!isInCollection(place) || place.kind !== 'calendar') throw unsupported()
  const collection = await collectionAt(context, place)
  const filter = childOf(root, CALDAV, 'filter')
  if (!root || !filter) throw new Refusal(400, '<C:valid-filter/>')
  checkCollations(filter, '<C:supported-collation/>')
  const narrowing = narrowingOf(filter)
  const wanted = wantedIn(root)
  shapeIn(wanted)
  const zone = await zoneOfReport(context, collection)
  const matches = matchingObjects(context, collection, { filter, wanted, narrowing, zone })
  return sendMultistatus(reply, shown(context, collection, matches, wanted))
}

export const addressbookQuery: Handler = async (context) => {
  const { place, reply, root } = context
  if (!isInCollection(place) || place.kind !== 'addressbook') throw unsupported()
  const collection = await collectionAt(context, place)
  const filter = childOf(root, CARDDAV, 'filter')
  if (!root || !filter) throw new Refusal(400, '<A:supported-filter/>')
  checkCollations(filter, '<A:supported-collation/>')
  const limit = Number(textOf(childOf(childOf(root, CARDDAV, 'limit'), CARDDAV, 'nresults')))
  const wanted = wantedIn(root)
  const matches = matchingObjects(context, collection, { filter, wanted, narrowing: {} })
  const most = limit > 0 ? limit : Number.POSITIVE_INFINITY
  return sendMultistatus(reply, shown(context, collection, matches, wanted, most))
}

/** The responses of the matches, at most as many as asked for. */
async function* shown(
  { me, place }: Context,
  collection: OpenCollection,
  matches: AsyncGenerator<StoredObject>,
  wanted: Wanted,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  if (!isInCollection(place)) return
  let count = 0
  for await (const object of matches) {
    if (++count > limit) {
      yield truncated(pathOf(place))
      return
    }
    const at: Place = { ...place, type: 'object', name: object.uri }
    yield* responseOf({ place: at, me, collection, object }, wanted)
  }
}

interface Query {
  filter: Element
  wanted: Wanted
  narrowing: Narrowing & { isDecided?: boolean }
  /** XML content of the zone of times without one. */
  zone?: string | undefined
}

/** A filter that the database has decided already needs no look at the data. */
async function* matchingObjects(
  context: Context,
  collection: OpenCollection,
  { filter, wanted, narrowing, zone }: Query,
): AsyncGenerator<StoredObject> {
  const { core, me } = context
  const limits = { owner: me.organization_id, timeLimitMs: TIME_LIMIT_MS }
  const { place } = context
  const isOne = place.type === 'object'
  const batches = isOne
    ? collection.named([place.name], true)
    : collection.list(true, { ...narrowing, isZoned: zone !== undefined })
  for await (const rows of batches) {
    if (isOne && rows.length === 0) throw new Refusal(404)
    if (narrowing.isDecided && !isOne) {
      yield* await asAsked(context, wanted, rows, zone)
      continue
    }
    const texts = rows.map(({ data = '' }) => data)
    const input = { kind: collection.kind, filter, texts, zone }
    const isMatch = await core.workers.run(matchTask, input, limits).catch((error) => {
      // An object that cannot be decided in time is included; the program decides.
      if (error instanceof OutOfTime) return rows.map(() => true)
      throw error
    })
    const matching = rows.filter((_row, index) => isMatch[index])
    yield* await asAsked(context, wanted, matching, zone)
  }
}

/** The part of a filter that the database decides: the component and the bounds of its time range. */
function narrowingOf(filter: Element): Narrowing & { isDecided?: boolean } {
  const top = childOf(filter, CALDAV, 'comp-filter')
  if (top?.attributes.name?.toUpperCase() !== 'VCALENDAR') {
    throw new Refusal(403, '<C:valid-filter/>')
  }
  if (childrenOf(filter, CALDAV, 'comp-filter').length > 1) throw invalid('One VCALENDAR')
  checkFilter(top)
  const inner = childrenOf(top, CALDAV, 'comp-filter')
  const [one] = inner
  if (!one || inner.length > 1) return { isDecided: elementsOf(top).length === 0 }
  const name = one.attributes.name?.toUpperCase() ?? ''
  if (!STORED.includes(name) || childOf(one, CALDAV, 'is-not-defined')) return {}
  const range = childOf(one, CALDAV, 'time-range')
  const isDecided = elementsOf(one).length === 0 && elementsOf(top).length === 1
  return { component: name, isDecided, ...(range && rangeIn(range)) }
}

function checkCollations(element: Element, condition: string): void {
  for (const child of elementsOf(element)) {
    const { collation } = child.attributes
    if (child.name === 'text-match' && collation && !COLLATIONS.includes(collation)) {
      throw new Refusal(403, condition)
    }
    checkCollations(child, condition)
  }
}
