import ICAL from 'ical.js'
import { readXml, textOf } from '../../../lib/xml.ts'
import { XML_LIMITS } from '../xml/names.ts'
import { parseCalendar } from './calendar.ts'
import type { Zone } from './times.ts'

const MAX_LENGTH = 64 * 1024
/** Zones change the clock about twice a year; some programs begin with the year 1601. */
const MAX_CHANGES = 5000
const LAST_YEAR = 2100
const NEEDED = ['dtstart', 'tzoffsetfrom', 'tzoffsetto']

/** The value is no time zone; the message says why. */
export class UnusableZone extends Error {}

/**
 * Reads the XML content of a time zone of a request or a calendar: one VTIMEZONE in a VCALENDAR
 * (RFC 4791 section 5.2.2).
 */
export function readZone(content: string): ICAL.Timezone {
  if (content.length > MAX_LENGTH) throw new UnusableZone('A time zone has at most 64 KB')
  const text = textOf(readXml(`<zone>${content}</zone>`, XML_LIMITS)).trim()
  const [component, ...others] = parseCalendar(text).getAllSubcomponents()
  if (component?.name !== 'vtimezone' || others.length > 0) {
    throw new UnusableZone('A time zone is a VCALENDAR with one VTIMEZONE')
  }
  if (!component.getFirstPropertyValue('tzid')) throw new UnusableZone('A VTIMEZONE has a TZID')
  checkChanges(component)
  return new ICAL.Timezone(component)
}

/** The zone of a request or a calendar; one that cannot be read counts as none. */
export function zoneIn(content: string | undefined): Zone {
  if (content === undefined) return undefined
  try {
    return readZone(content)
  } catch {
    return undefined
  }
}

/** The library follows the rules of a zone to the year of a time, so they must have few changes. */
function checkChanges(zone: ICAL.Component): void {
  const parts = zone.getAllSubcomponents()
  if (parts.length === 0) throw new UnusableZone('A VTIMEZONE has STANDARD or DAYLIGHT')
  let left = MAX_CHANGES
  for (const part of parts) {
    const missing = NEEDED.find((name) => !part.hasProperty(name))
    if (missing) throw new UnusableZone(`${part.name.toUpperCase()} has ${missing.toUpperCase()}`)
    left -= changesOf(part, left)
    if (left <= 0) throw new UnusableZone('The VTIMEZONE has too many changes of the clock')
  }
}

/** The number of changes until LAST_YEAR, counted to a limit. */
function changesOf(part: ICAL.Component, limit: number): number {
  const rule = part.getFirstPropertyValue('rrule')
  const start = part.getFirstPropertyValue('dtstart')
  if (!(start instanceof ICAL.Time)) throw new UnusableZone('DTSTART is a time')
  const dates = part.getAllProperties('rdate').length
  if (!(rule instanceof ICAL.Recur)) return dates + 1
  if (rule.freq !== 'YEARLY') throw new UnusableZone('A rule of a VTIMEZONE has FREQ=YEARLY')
  const times = rule.iterator(start)
  let count = 0
  for (let time = times.next(); time && time.year <= LAST_YEAR; time = times.next()) {
    if (++count > limit) break
  }
  return dates + count
}
