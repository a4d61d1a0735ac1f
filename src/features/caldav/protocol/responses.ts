import { breather } from '../../../lib/breather.ts'
import { childOf, type Element, elementsOf } from '../../../lib/xml.ts'
import type { StoredObject } from '../store/objects.repository.ts'
import { CALDAV, DAV, keyOf } from '../xml/names.ts'
import { escapedPieces, tag } from '../xml/write.ts'
import { href } from './answers.ts'
import { pathOf } from './places.ts'
import { ADDRESS_DATA, CALENDAR_DATA, namesOf, propertyValue, type Resource } from './properties.ts'

/** The properties that a request asks for. */
export type Wanted =
  | { all: 'values' | 'names'; included: string[] }
  | { keys: string[]; elements: Map<string, Element> }

export function wantedIn(root: Element | undefined): Wanted {
  if (!root) return { all: 'values', included: [] }
  if (childOf(root, DAV, 'propname')) return { all: 'names', included: [] }
  const prop = childOf(root, DAV, 'prop')
  if (prop) {
    const elements = elementsOf(prop).map((one): [string, Element] => [
      keyOf(one.namespace, one.name),
      one,
    ])
    return { keys: [...new Set(elements.map(([key]) => key))], elements: new Map(elements) }
  }
  const include = childOf(root, DAV, 'include')
  const included = include ? elementsOf(include).map((one) => keyOf(one.namespace, one.name)) : []
  return { all: 'values', included }
}

export const wants = (wanted: Wanted, ...keys: string[]): boolean =>
  keys.some((key) => ('keys' in wanted ? wanted.keys.includes(key) : wanted.included.includes(key)))

export const wantsData = (wanted: Wanted): boolean => wants(wanted, CALENDAR_DATA, ADDRESS_DATA)

const OK = 'HTTP/1.1 200 OK'
const NOT_FOUND = 'HTTP/1.1 404 Not Found'

export const propstat = (properties: string, status: string, more = ''): string =>
  `<D:propstat><D:prop>${properties}</D:prop><D:status>${status}</D:status>${more}</D:propstat>`

const isData = (key: string) => key === CALENDAR_DATA || key === ADDRESS_DATA

/** The data of the object under this name; undefined when the resource does not have it. */
function dataOf({ object, collection }: Resource, key: string): StoredObject['data'] {
  const kind = key === CALENDAR_DATA ? 'calendar' : 'addressbook'
  return collection?.kind === kind ? object?.data : undefined
}

/** One response element, in pieces: the data of an object may be large. */
export async function* responseOf(resource: Resource, wanted: Wanted): AsyncGenerator<string> {
  const keys = 'keys' in wanted ? wanted.keys : [...namesOf(resource), ...wanted.included]
  let found = ''
  let absent = ''
  let data: { key: string; text: string } | undefined
  const breathe = breather()
  for (const key of keys) {
    if (isData(key)) {
      const text = dataOf(resource, key)
      if (text === undefined) absent += tag(key)
      else data = { key, text }
      continue
    }
    const value = propertyValue(resource, key)
    if (value === undefined) {
      absent += tag(key)
      // A request may name thousands of properties that do not exist.
      await breathe()
    } else found += tag(key, 'all' in wanted && wanted.all === 'names' ? '' : value)
  }
  const start = `<D:response>${href(pathOf(resource.place))}`
  const end = `${absent === '' ? '' : propstat(absent, NOT_FOUND)}</D:response>`
  if (!data) {
    // A response has at least one propstat.
    yield start + (found === '' && absent !== '' ? '' : propstat(found, OK)) + end
    return
  }
  const prefix = data.key === keyOf(CALDAV, 'calendar-data') ? 'C:calendar-data' : 'A:address-data'
  yield `${start}<D:propstat><D:prop>${found}<${prefix}>`
  yield* escapedPieces(data.text)
  yield `</${prefix}></D:prop><D:status>${OK}</D:status></D:propstat>${end}`
}
