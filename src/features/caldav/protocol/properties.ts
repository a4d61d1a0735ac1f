import type { Holder } from '../login/holder.ts'
import { CARD_VERSIONS } from '../objects/card.ts'
import type { StoredObject } from '../store/objects.repository.ts'
import type { OpenCollection } from '../store/open-collection.ts'
import { CALDAV, CALENDARSERVER, CARDDAV, DAV, keyOf } from '../xml/names.ts'
import { escaped } from '../xml/write.ts'
import { href } from './answers.ts'
import {
  boxPath,
  collectionPath,
  homePath,
  type Kind,
  type Place,
  principalPath,
  principalsPath,
} from './places.ts'

export const MAX_OBJECT_BYTES = 5 * 1024 * 1024

/** A resource whose properties are asked for. */
export interface Resource {
  place: Place
  me: Holder
  collection?: OpenCollection
  object?: StoredObject
  /** Bytes that the owner of a collection has used and may still use. */
  quota?: { used: number; available: number }
  /** The state of the collection; read when a property needs it. */
  state?: string
  /** The name of the calendar that invitations are added to; read when it is asked for. */
  defaultCalendar?: string | undefined
}

/** Returns the XML content of a property, or undefined when the resource does not have it. */
type Property = (resource: Resource) => string | undefined

export const CALENDAR_DATA = keyOf(CALDAV, 'calendar-data')
export const ADDRESS_DATA = keyOf(CARDDAV, 'address-data')
export const DISPLAYNAME = keyOf(DAV, 'displayname')
export const RESOURCETYPE = keyOf(DAV, 'resourcetype')
export const DEFAULT_CALENDAR = keyOf(CALDAV, 'schedule-default-calendar-URL')
export const COMPONENT_SET = keyOf(CALDAV, 'supported-calendar-component-set')

/** A sync token names the collection, so that a token of another one is never taken for it. */
export const SYNC_TOKEN_BASE = 'urn:mailplane:sync:'
export const syncToken = (collectionId: string, seq: number) =>
  `${SYNC_TOKEN_BASE}${collectionId}/${seq}`

const kindOf = ({ place }: Resource): Kind | undefined => ('kind' in place ? place.kind : undefined)
const isCollection = ({ collection, object }: Resource) => collection !== undefined && !object
const ofCollection =
  (read: (collection: OpenCollection, resource: Resource) => string | undefined): Property =>
  (resource) =>
    resource.collection && !resource.object ? read(resource.collection, resource) : undefined
const ofObject =
  (read: (object: StoredObject, resource: Resource) => string | undefined): Property =>
  (resource) =>
    resource.object && read(resource.object, resource)
const ofPrincipal =
  (read: (me: Holder) => string): Property =>
  ({ place, me }) =>
    place.type === 'principal' ? read(me) : undefined

function typesOf(resource: Resource): string {
  if (resource.object) return ''
  if (resource.place.type === 'principal') return '<D:principal/><D:collection/>'
  if (resource.place.type === 'inbox') return '<D:collection/><C:schedule-inbox/>'
  if (resource.place.type === 'outbox') return '<D:collection/><C:schedule-outbox/>'
  if (!isCollection(resource)) return '<D:collection/>'
  return `<D:collection/>${resource.collection?.kind === 'calendar' ? '<C:calendar/>' : '<A:addressbook/>'}`
}

/** RFC 6638 section 6: what the mailbox itself may do with its boxes. */
const BOX_PRIVILEGES = {
  inbox: ['C:schedule-deliver', 'C:schedule-deliver-invite', 'C:schedule-deliver-reply'],
  outbox: ['C:schedule-send', 'C:schedule-send-freebusy'],
}
const READ = ['D:read', 'D:read-acl', 'D:read-current-user-privilege-set', 'C:read-free-busy']
const WRITE = ['D:write', 'D:write-content', 'D:bind', 'D:unbind']

function privilegesOf({ collection, place }: Resource): string {
  const mayWrite = collection ? collection.mayWrite : place.type === 'home'
  const maySet = mayWrite || place.type === 'inbox'
  const isOwn = collection ? collection.isOwn : place.type === 'home'
  const names = [
    ...READ,
    ...(place.type === 'inbox' || place.type === 'outbox' ? BOX_PRIVILEGES[place.type] : []),
    ...(mayWrite ? WRITE : []),
    ...(maySet ? ['D:write-properties'] : []),
    ...(isOwn ? ['D:all'] : []),
  ]
  return names.map((name) => `<D:privilege><${name}/></D:privilege>`).join('')
}

/** The reports on collections and on their objects. */
const REPORTS: Record<Kind, readonly string[]> = {
  calendar: ['C:calendar-query', 'C:calendar-multiget'],
  addressbook: ['A:addressbook-query', 'A:addressbook-multiget'],
}
const PRINCIPAL_REPORTS = [
  'D:principal-property-search',
  'D:principal-search-property-set',
  'D:expand-property',
]

function reportNames({ collection, object }: Resource): readonly string[] {
  if (!collection) return PRINCIPAL_REPORTS
  const { kind, stored } = collection
  if (object) return REPORTS[kind]
  return [
    ...REPORTS[kind],
    ...(kind === 'calendar' ? ['C:free-busy-query'] : []),
    ...(stored ? ['D:sync-collection'] : []),
  ]
}

function reportsOf(resource: Resource): string {
  return reportNames(resource)
    .map((name) => `<D:supported-report><D:report><${name}/></D:report></D:supported-report>`)
    .join('')
}

const contentType = ({ component }: StoredObject, kind: Kind | undefined): string =>
  kind === 'calendar'
    ? `text/calendar; charset=utf-8${component ? `; component=${component}` : ''}`
    : 'text/vcard; charset=utf-8'

const CARD_TYPES = CARD_VERSIONS.map(
  (version) => `<A:address-data-type content-type="text/vcard" version="${version}"/>`,
).join('')

const LIVE = new Map<string, Property>([
  [RESOURCETYPE, typesOf],
  [keyOf(DAV, 'current-user-principal'), ({ me }) => href(principalPath(me.id))],
  [keyOf(DAV, 'principal-URL'), ofPrincipal(({ id }) => href(principalPath(id)))],
  [
    keyOf(DAV, 'owner'),
    ({ place, me }) => ('account' in place ? href(principalPath(me.id)) : undefined),
  ],
  [keyOf(DAV, 'principal-collection-set'), () => href(principalsPath)],
  [keyOf(DAV, 'current-user-privilege-set'), privilegesOf],
  [keyOf(DAV, 'supported-report-set'), reportsOf],
  [
    DISPLAYNAME,
    (resource) => {
      if (resource.place.type === 'principal') return escaped(resource.me.name || resource.me.email)
      if (!isCollection(resource)) return undefined
      return resource.collection?.name || escaped(resource.collection?.uri ?? '')
    },
  ],
  [keyOf(CALDAV, 'calendar-home-set'), ofPrincipal(({ id }) => href(homePath('calendar', id)))],
  [
    keyOf(CARDDAV, 'addressbook-home-set'),
    ofPrincipal(({ id }) => href(homePath('addressbook', id))),
  ],
  [keyOf(CALDAV, 'schedule-inbox-URL'), ofPrincipal(({ id }) => href(boxPath('inbox', id)))],
  [keyOf(CALDAV, 'schedule-outbox-URL'), ofPrincipal(({ id }) => href(boxPath('outbox', id)))],
  [
    DEFAULT_CALENDAR,
    ({ defaultCalendar: uri, me }) =>
      uri === undefined ? undefined : href(collectionPath('calendar', me.id, uri)),
  ],
  [keyOf(CALDAV, 'calendar-user-type'), ofPrincipal(() => 'INDIVIDUAL')],
  [
    keyOf(CALDAV, 'schedule-tag'),
    ofObject(({ schedule_tag: tag }) => (tag === null ? undefined : escaped(`"${tag}"`))),
  ],
  [
    keyOf(CALDAV, 'calendar-user-address-set'),
    ofPrincipal(({ id, email }) => href(`mailto:${email}`) + href(principalPath(id))),
  ],
  [keyOf(CALENDARSERVER, 'email-address-set'), ofPrincipal(({ email }) => emailAddress(email))],
  [
    keyOf(CALENDARSERVER, 'getctag'),
    ofCollection((_collection, { state }) => escaped(state ?? '')),
  ],
  [
    keyOf(DAV, 'sync-token'),
    ofCollection(({ stored }) => stored && escaped(syncToken(stored.id, stored.seq))),
  ],
  [
    COMPONENT_SET,
    ofCollection(({ kind, stored }) =>
      kind === 'calendar'
        ? stored?.components.map((name) => `<C:comp name="${escaped(name)}"/>`).join('')
        : undefined,
    ),
  ],
  [
    keyOf(CALDAV, 'supported-calendar-data'),
    ofCollection(({ kind }) =>
      kind === 'calendar'
        ? '<C:calendar-data content-type="text/calendar" version="2.0"/>'
        : undefined,
    ),
  ],
  [
    keyOf(CALDAV, 'supported-collation-set'),
    ofCollection(({ kind }) => (kind === 'calendar' ? COLLATIONS('C') : undefined)),
  ],
  [
    keyOf(CARDDAV, 'supported-collation-set'),
    ofCollection(({ kind }) => (kind === 'addressbook' ? COLLATIONS('A') : undefined)),
  ],
  [
    keyOf(CARDDAV, 'supported-address-data'),
    ofCollection(({ kind }) => (kind === 'addressbook' ? CARD_TYPES : undefined)),
  ],
  [
    keyOf(CALDAV, 'max-resource-size'),
    ofCollection(({ kind }) => (kind === 'calendar' ? String(MAX_OBJECT_BYTES) : undefined)),
  ],
  [
    keyOf(CARDDAV, 'max-resource-size'),
    ofCollection(({ kind }) => (kind === 'addressbook' ? String(MAX_OBJECT_BYTES) : undefined)),
  ],
  [keyOf(DAV, 'quota-used-bytes'), ({ quota }) => quota && String(quota.used)],
  [keyOf(DAV, 'quota-available-bytes'), ({ quota }) => quota && String(quota.available)],
  [keyOf(DAV, 'getetag'), ofObject(({ etag }) => escaped(`"${etag}"`))],
  [
    keyOf(DAV, 'getcontenttype'),
    ofObject((object, resource) => escaped(contentType(object, kindOf(resource)))),
  ],
  [keyOf(DAV, 'getcontentlength'), ofObject(({ size }) => String(size))],
  [
    keyOf(DAV, 'getlastmodified'),
    ofObject(({ modified_at }) => new Date(modified_at).toUTCString()),
  ],
])

const emailAddress = (email: string) => `<S:email-address>${escaped(email)}</S:email-address>`

function COLLATIONS(prefix: string): string {
  return ['i;ascii-casemap', 'i;unicode-casemap', 'i;octet']
    .map((name) => `<${prefix}:supported-collation>${name}</${prefix}:supported-collation>`)
    .join('')
}

export const QUOTA_PROPERTIES = [
  keyOf(DAV, 'quota-used-bytes'),
  keyOf(DAV, 'quota-available-bytes'),
]
export const STATE_PROPERTY = keyOf(CALENDARSERVER, 'getctag')

/** Left out of an answer to `allprop`, as the standards ask for. */
const ASKED_BY_NAME = new Set([
  ...QUOTA_PROPERTIES,
  DEFAULT_CALENDAR,
  keyOf(DAV, 'sync-token'),
  keyOf(DAV, 'supported-report-set'),
  keyOf(DAV, 'current-user-privilege-set'),
  keyOf(CALDAV, 'calendar-home-set'),
  keyOf(CALDAV, 'schedule-inbox-URL'),
  keyOf(CALDAV, 'schedule-outbox-URL'),
  keyOf(CALDAV, 'schedule-tag'),
  keyOf(CARDDAV, 'addressbook-home-set'),
  keyOf(CALDAV, 'supported-collation-set'),
  keyOf(CARDDAV, 'supported-collation-set'),
])

/** Clients can set every other property of a collection. */
export const isProtected = (key: string): boolean => LIVE.has(key) && key !== DISPLAYNAME

const deadOf = ({ collection, object }: Resource): Record<string, string> =>
  collection?.stored && !object ? collection.stored.properties : {}

export function propertyValue(resource: Resource, key: string): string | undefined {
  const live = LIVE.get(key)
  if (live) return live(resource)
  const dead = deadOf(resource)
  return Object.hasOwn(dead, key) ? dead[key] : undefined
}

/** The properties of an answer to `allprop` or `propname`. */
export const namesOf = (resource: Resource): string[] => [
  ...[...LIVE.keys()].filter(
    (key) => !ASKED_BY_NAME.has(key) && LIVE.get(key)?.(resource) !== undefined,
  ),
  ...Object.keys(deadOf(resource)).filter((key) => !LIVE.has(key)),
]
