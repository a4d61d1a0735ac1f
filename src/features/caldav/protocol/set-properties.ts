import { childOf, childrenOf, type Element, elementsOf } from '../../../lib/xml.ts'
import { CALDAV, CARDDAV, DAV, keyOf } from '../xml/names.ts'
import { contentOf } from '../xml/write.ts'
import { Refusal } from './answers.ts'
import type { Kind } from './places.ts'
import { COMPONENT_SET, isProtected, RESOURCETYPE } from './properties.ts'

/** Limits of what clients store with a collection. */
const MAX_PROPERTIES = 200
const MAX_BYTES = 256 * 1024
const COMPONENTS = ['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY', 'VAVAILABILITY', 'VPOLL']

export interface PropertyChanges {
  set: Record<string, string>
  remove: string[]
  /** Properties that cannot be changed here. */
  refused: string[]
}

/** The changes of a PROPPATCH body, in document order. */
export function changesIn(root: Element, isRefused: (key: string) => boolean): PropertyChanges {
  const changes: PropertyChanges = { set: {}, remove: [], refused: [] }
  for (const action of elementsOf(root)) {
    const isSet = action.name === 'set'
    if (action.namespace !== DAV || (!isSet && action.name !== 'remove')) continue
    for (const property of elementsOf(childOf(action, DAV, 'prop') ?? { ...action, nodes: [] })) {
      const key = keyOf(property.namespace, property.name)
      if (isRefused(key)) changes.refused.push(key)
      else if (isSet) changes.set[key] = contentOf(property)
      else changes.remove.push(key)
    }
  }
  return changes
}

/** The stored properties after the changes. */
export function changed(
  before: Record<string, string>,
  { set, remove }: PropertyChanges,
): Record<string, string> {
  const after = { ...before, ...set }
  for (const key of remove) delete after[key]
  const size = Buffer.byteLength(JSON.stringify(after))
  if (Object.keys(after).length > MAX_PROPERTIES || size > MAX_BYTES) {
    throw new Refusal(507, '<D:quota-not-exceeded/>', {
      message: 'A collection stores at most 200 properties and 256 KB of them',
    })
  }
  return after
}

export interface NewProperties {
  properties: Record<string, string>
  components: string[] | undefined
  refused: string[]
}

/** The properties of a collection that is being created. */
export function propertiesIn(root: Element, kind: Kind): NewProperties {
  const found: NewProperties = { properties: {}, components: undefined, refused: [] }
  const sets = childrenOf(root, DAV, 'set').flatMap((one) => childrenOf(one, DAV, 'prop'))
  for (const property of sets.flatMap(elementsOf)) {
    const key = keyOf(property.namespace, property.name)
    if (key === RESOURCETYPE) checkType(property, kind)
    else if (key === COMPONENT_SET && kind === 'calendar') found.components = componentsIn(property)
    else if (isProtected(key)) found.refused.push(key)
    else found.properties[key] = contentOf(property)
  }
  found.properties = changed({}, { set: found.properties, remove: [], refused: [] })
  return found
}

function checkType(property: Element, kind: Kind): void {
  const wanted = kind === 'calendar' ? keyOf(CALDAV, 'calendar') : keyOf(CARDDAV, 'addressbook')
  const types = elementsOf(property).map((one) => keyOf(one.namespace, one.name))
  if (!types.includes(wanted)) {
    throw new Refusal(403, '<D:valid-resourcetype/>', {
      message: `Here only a collection of the type ${kind} can be created`,
    })
  }
}

function componentsIn(property: Element): string[] {
  const names = childrenOf(property, CALDAV, 'comp').map(({ attributes }) => attributes.name ?? '')
  if (names.length === 0 || names.some((name) => !COMPONENTS.includes(name))) {
    throw new Refusal(403, '<C:supported-calendar-component/>')
  }
  return [...new Set(names)]
}
