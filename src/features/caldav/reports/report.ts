import { childOf, type Element } from '../../../lib/xml.ts'
import { CARD_VERSIONS } from '../objects/card.ts'
import { Refusal } from '../protocol/answers.ts'
import type { Handler } from '../protocol/context.ts'
import { CALDAV, CARDDAV, DAV, keyOf } from '../xml/names.ts'
import { freeBusyQuery } from './free-busy.ts'
import { multiget } from './multiget.ts'
import { expandProperty, principalSearch, searchProperties } from './principals.ts'
import { addressbookQuery, calendarQuery } from './queries.ts'
import { syncCollection } from './sync.ts'
import { unsupported } from './unsupported.ts'

const REPORTS = new Map<string, Handler>([
  [keyOf(CALDAV, 'calendar-query'), calendarQuery],
  [keyOf(CALDAV, 'calendar-multiget'), multiget],
  [keyOf(CALDAV, 'free-busy-query'), freeBusyQuery],
  [keyOf(CARDDAV, 'addressbook-query'), addressbookQuery],
  [keyOf(CARDDAV, 'addressbook-multiget'), multiget],
  [keyOf(DAV, 'sync-collection'), syncCollection],
  [keyOf(DAV, 'principal-property-search'), principalSearch],
  [keyOf(DAV, 'principal-search-property-set'), searchProperties],
  [keyOf(DAV, 'expand-property'), expandProperty],
])

export const report: Handler = async (context) => {
  const { root } = context
  if (!root) throw new Refusal(400)
  const handler = REPORTS.get(keyOf(root.namespace, root.name))
  if (!handler) throw unsupported()
  checkDataType(childOf(childOf(root, DAV, 'prop'), CALDAV, 'calendar-data'), {
    types: ['text/calendar'],
    versions: ['2.0'],
    condition: '<C:supported-calendar-data/>',
  })
  checkDataType(childOf(childOf(root, DAV, 'prop'), CARDDAV, 'address-data'), {
    types: ['text/vcard'],
    versions: CARD_VERSIONS,
    condition: '<A:supported-address-data/>',
  })
  return handler(context)
}

interface DataTypes {
  types: readonly string[]
  versions: readonly string[]
  condition: string
}

/** Objects are returned as they were stored, so another form cannot be asked for. */
function checkDataType(element: Element | undefined, { types, versions, condition }: DataTypes) {
  const { 'content-type': type, version } = element?.attributes ?? {}
  const isKnown =
    (type === undefined || types.includes(type)) &&
    (version === undefined || versions.includes(version))
  if (!isKnown) throw new Refusal(403, condition)
}
