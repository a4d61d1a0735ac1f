import { ulid } from '../../../lib/ulid.ts'
import { isNamed } from '../../../lib/xml.ts'
import * as collections from '../store/collections.repository.ts'
import { isReserved } from '../store/open-collection.ts'
import { CALDAV, CALENDAR_TIMEZONE, DAV } from '../xml/names.ts'
import { tag } from '../xml/write.ts'
import { href, Refusal, sendXml } from './answers.ts'
import { checkZone, problemOfZone } from './check-zone.ts'
import { type Context, collectionAt, type Handler, writable } from './context.ts'
import { chooseCalendar } from './default-calendar.ts'
import { pathOf } from './places.ts'
import { DEFAULT_CALENDAR, isProtected } from './properties.ts'
import { propstat } from './responses.ts'
import {
  changed,
  changesIn,
  type NewProperties,
  type PropertyChanges,
  propertiesIn,
} from './set-properties.ts'

const ALL_COMPONENTS = ['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY']
const tags = (keys: readonly string[]) => keys.map((key) => tag(key)).join('')
const forbidden = (keys: readonly string[], condition: string) =>
  propstat(tags(keys), 'HTTP/1.1 403 Forbidden', `<D:error><${condition}/></D:error>`)
const PROTECTED = 'D:cannot-modify-protected-property'

/** All changes are made, or none. */
export const proppatch: Handler = async (context) => {
  const { place, reply, root } = context
  if (!root || !isNamed(root, DAV, 'propertyupdate')) throw new Refusal(400)
  if (place.type !== 'collection' && place.type !== 'inbox') throw new Refusal(403)
  const stored =
    place.type === 'collection' ? writable(await collectionAt(context, place)) : undefined
  const changes = changesIn(root, stored ? isProtected : (key) => key !== DEFAULT_CALENDAR)
  const accepted = [...Object.keys(changes.set), ...changes.remove]
  const answer = (propstats: string) =>
    sendXml(
      reply,
      207,
      'D:multistatus',
      `<D:response>${href(pathOf(place))}${propstats}</D:response>`,
    )
  const refuse = (keys: readonly string[], condition: string) => {
    const others = accepted.filter((key) => !keys.includes(key))
    const failed = others.length > 0 ? propstat(tags(others), 'HTTP/1.1 424 Failed Dependency') : ''
    return answer(failed + forbidden(keys, condition))
  }
  if (changes.refused.length > 0) return refuse(changes.refused, PROTECTED)
  const zone = changes.set[CALENDAR_TIMEZONE]
  if (zone !== undefined && (await problemOfZone(context, zone)) !== undefined) {
    return refuse([CALENDAR_TIMEZONE], 'C:valid-calendar-data')
  }
  if (stored) await setProperties(context, stored.id, changes)
  else if (!(await chooseCalendar(context, root))) {
    return refuse(accepted, 'C:valid-schedule-default-calendar-URL')
  }
  return answer(propstat(tags(accepted), 'HTTP/1.1 200 OK'))
}

const setProperties = ({ core, request }: Context, id: string, changes: PropertyChanges) =>
  core.change(request.caller, async (tx) => {
    const row = await collections.lock(tx, id)
    if (!row) throw new Refusal(404)
    await collections.setProperties(tx, row.id, changed(row.properties, changes))
    await collections.advance(tx, row.id, { objects: 0, bytes: 0 })
  })

/** MKCALENDAR, and MKCOL with or without properties (RFC 5689). */
export const makeCollection: Handler = async (context) => {
  const { core, me, place, request, reply, root } = context
  const isCalendar = request.method === 'MKCALENDAR'
  if (place.type === 'object') throw new Refusal(isCalendar ? 403 : 409, LOCATION)
  if (place.type !== 'collection') throw new Refusal(isCalendar ? 403 : 405, LOCATION)
  const { kind, uri } = place
  if ((isCalendar && kind !== 'calendar') || isReserved(kind, uri)) throw new Refusal(403, LOCATION)
  const [namespace, name] = isCalendar ? [CALDAV, 'mkcalendar'] : [DAV, 'mkcol']
  if (root && !isNamed(root, namespace as string, name as string)) throw new Refusal(415)
  const owner = { account_id: me.id }
  const { properties, components, refused }: NewProperties = root
    ? propertiesIn(root, kind)
    : { properties: {}, components: undefined, refused: [] }
  if (refused.length > 0) {
    const name = isCalendar ? 'C:mkcalendar-response' : 'D:mkcol-response'
    return sendXml(reply, 403, name, forbidden(refused, PROTECTED))
  }
  await checkZone(context, properties[CALENDAR_TIMEZONE])
  await core.change(request.caller, async (tx) => {
    const { collections: count } = await collections.usage(tx, owner)
    const values = {
      id: ulid(),
      organization_id: me.organization_id,
      kind,
      uri,
      properties,
      components: kind === 'calendar' ? (components ?? ALL_COMPONENTS) : [],
    }
    if (count >= core.config.CALDAV_MAX_COLLECTIONS) {
      throw new Refusal(507, '<D:quota-not-exceeded/>', {
        message: `A mailbox has at most ${count} calendars and address books`,
      })
    }
    if (!(await collections.insert(tx, owner, values))) {
      throw isCalendar ? new Refusal(403, '<D:resource-must-be-null/>') : new Refusal(405)
    }
  })
  return reply.code(201).send()
}

const LOCATION = '<C:calendar-collection-location-ok/>'
