import { childOf, childrenOf, type Element, elementsOf, textOf } from '../../../lib/xml.ts'
import { href, Refusal, sendMultistatus, sendXml } from '../protocol/answers.ts'
import { type Context, collectionAt, type Handler } from '../protocol/context.ts'
import { type Place, pathOf } from '../protocol/places.ts'
import { propertyValue, type Resource } from '../protocol/properties.ts'
import { propstat, responseOf, wantedIn } from '../protocol/responses.ts'
import { CALDAV, CALENDARSERVER, DAV, keyOf } from '../xml/names.ts'
import { tag } from '../xml/write.ts'
import { unsupported } from './unsupported.ts'

/** The properties that a search may name, and what they are. */
const SEARCHABLE = new Map([
  [keyOf(DAV, 'displayname'), 'Name'],
  [keyOf(CALDAV, 'calendar-user-address-set'), 'Calendar user address'],
  [keyOf(CALENDARSERVER, 'email-address-set'), 'E-mail address'],
])

/** RFC 3744 sections 9.4 and 9.5: the reports about principals have no other depth. */
function checkDepth({ request }: Context): void {
  if ((request.headers.depth ?? '0') !== '0') throw new Refusal(400)
}

export const searchProperties: Handler = async (context) => {
  checkDepth(context)
  const properties = [...SEARCHABLE].map(
    ([key, description]) =>
      `<D:principal-search-property><D:prop>${tag(key)}</D:prop>` +
      `<D:description xml:lang="en">${description}</D:description></D:principal-search-property>`,
  )
  return sendXml(context.reply, 200, 'D:principal-search-property-set', properties.join(''))
}

/** principal-property-search finds the mailbox itself; others are in the address book of the domain. */
export const principalSearch: Handler = async (context) => {
  const { me, reply, root } = context
  checkDepth(context)
  if (!root) throw unsupported()
  const matches = (search: Element) => {
    const text = textOf(childOf(search, DAV, 'match')).toLowerCase()
    const prop = childOf(search, DAV, 'prop')
    const names = prop ? elementsOf(prop).map((one) => keyOf(one.namespace, one.name)) : []
    const values = `${me.name ?? ''}\n${me.email}`.toLowerCase()
    return names.some((name) => SEARCHABLE.has(name)) && values.includes(text)
  }
  const searches = childrenOf(root, DAV, 'property-search')
  const isAny = root.attributes.test === 'anyof'
  const isFound = searches.length > 0 && (isAny ? searches.some(matches) : searches.every(matches))
  async function* found() {
    if (!isFound || !root) return
    yield* responseOf({ place: { type: 'principal', account: me.id }, me }, wantedIn(root))
  }
  return sendMultistatus(reply, found())
}

/** expand-property (RFC 3253 section 3.8): paths in properties are replaced by what is asked of them. */
export const expandProperty: Handler = async (context) => {
  const { me, place, reply, root } = context
  if (!root) throw unsupported()
  const collection =
    place.type === 'collection' || place.type === 'object'
      ? await collectionAt(context, place)
      : undefined
  if (place.type === 'object') throw unsupported()
  const resource = { place, me, ...(collection && { collection, state: await collection.state() }) }
  const content = expanded(resource, childrenOf(root, DAV, 'property'))
  return sendXml(reply, 207, 'D:multistatus', content)
}

function expanded(resource: Resource, asked: readonly Element[]): string {
  let found = ''
  let absent = ''
  for (const property of asked) {
    const { name = '', namespace = DAV } = property.attributes
    if (!/^[\p{L}_][\p{L}\p{N}._-]*$/u.test(name)) {
      throw new Refusal(400, undefined, { message: 'A property has a name' })
    }
    const key = keyOf(namespace, name)
    const value = propertyValue(resource, key)
    if (value === undefined) absent += tag(key)
    else found += tag(key, withTargets(resource, value, childrenOf(property, DAV, 'property')))
  }
  const parts = [
    found === '' && absent !== '' ? '' : propstat(found, 'HTTP/1.1 200 OK'),
    absent === '' ? '' : propstat(absent, 'HTTP/1.1 404 Not Found'),
  ]
  return `<D:response>${href(pathOf(resource.place))}${parts.join('')}</D:response>`
}

/** Only the mailbox itself is a target; other paths stay as they are. */
function withTargets({ me }: Resource, value: string, asked: readonly Element[]): string {
  if (asked.length === 0) return value
  const place: Place = { type: 'principal', account: me.id }
  const target = href(pathOf(place))
  return value.split(target).join(value.includes(target) ? expanded({ place, me }, asked) : '')
}
