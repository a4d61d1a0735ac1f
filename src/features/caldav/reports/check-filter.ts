import { childOf, childrenOf, type Element, elementsOf } from '../../../lib/xml.ts'
import { rangeIn, UnusableRange } from '../objects/time-range.ts'
import { Refusal } from '../protocol/answers.ts'
import { CALDAV } from '../xml/names.ts'

/** The components that each component may have. */
const INNER: Record<string, readonly string[]> = {
  VCALENDAR: ['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY', 'VTIMEZONE', 'VAVAILABILITY', 'VPOLL'],
  VEVENT: ['VALARM'],
  VTODO: ['VALARM'],
  VTIMEZONE: ['STANDARD', 'DAYLIGHT'],
}
const KNOWN = new Set(['VCALENDAR', ...Object.values(INNER).flat()])
/** The parts of a time zone have no time range; that of a calendar, which programs send, is ignored. */
const TIMELESS = new Set(['VTIMEZONE', 'STANDARD', 'DAYLIGHT'])

/** The properties that are times; a time range tests no other. */
const TIMES = new Set(
  `ACKNOWLEDGED COMPLETED CREATED DTEND DTSTAMP DTSTART DUE EXDATE LAST-MODIFIED RDATE RECURRENCE-ID
  TRIGGER`.split(/\s+/),
)

/** The elements that each filter may have (RFC 4791 section 9.7). */
const CHILDREN: Record<string, readonly string[]> = {
  'comp-filter': ['is-not-defined', 'time-range', 'prop-filter', 'comp-filter'],
  'prop-filter': ['is-not-defined', 'time-range', 'text-match', 'param-filter'],
  'param-filter': ['is-not-defined', 'text-match'],
}

export const invalid = (message: string) => new Refusal(403, '<C:valid-filter/>', { message })

/** Checks the filter of a component with all that is in it, before the first object is read. */
export function checkFilter(filter: Element): void {
  const name = checkForm(filter)
  if (childOf(filter, CALDAV, 'time-range') && TIMELESS.has(name)) {
    throw invalid(`${name} has no time`)
  }
  for (const inner of childrenOf(filter, CALDAV, 'comp-filter')) {
    const innerName = checkForm(inner)
    if (!KNOWN.has(innerName)) throw new Refusal(403, '<C:supported-filter/>')
    if (!INNER[name]?.includes(innerName)) throw invalid(`${name} has no ${innerName}`)
    checkFilter(inner)
  }
  for (const property of childrenOf(filter, CALDAV, 'prop-filter')) {
    const propertyName = checkForm(property)
    const isTime = TIMES.has(propertyName) || propertyName.startsWith('X-')
    if (childOf(property, CALDAV, 'time-range') && !isTime) {
      throw invalid(`${propertyName} is no time`)
    }
    for (const parameter of childrenOf(property, CALDAV, 'param-filter')) checkForm(parameter)
  }
}

/** Checks one filter without what is in it; returns the name that it tests. */
function checkForm(filter: Element): string {
  const { name = '' } = filter.attributes
  if (name === '') throw invalid(`${filter.name} has a name`)
  const children = elementsOf(filter).filter(({ namespace }) => namespace === CALDAV)
  const names = children.map((child) => child.name)
  const unknown = names.find((one) => !CHILDREN[filter.name]?.includes(one))
  if (unknown !== undefined) throw invalid(`${filter.name} has no ${unknown}`)
  if (names.includes('is-not-defined') && names.length > 1) {
    throw invalid('is-not-defined stands alone')
  }
  const tests = names.filter((one) => one === 'time-range' || one === 'text-match')
  if (tests.length > 1) throw invalid(`${filter.name} has one time-range or text-match`)
  for (const range of childrenOf(filter, CALDAV, 'time-range')) checkRange(range)
  return name.toUpperCase()
}

function checkRange(range: Element): void {
  try {
    rangeIn(range)
  } catch (error) {
    throw error instanceof UnusableRange ? invalid(error.message) : error
  }
}
