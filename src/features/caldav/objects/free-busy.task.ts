import type ICAL from 'ical.js'
import { type Busy, joined } from './busy.ts'
import { parseCalendar, partsOf } from './calendar.ts'
import { instancesOf } from './instances.ts'
import type { TimeRange } from './times.ts'
import { zoneIn } from './zone.ts'

interface Input {
  texts: string[]
  from: number
  to: number
  /** XML content of the time zone in which times without one count. */
  zone?: string | undefined
}

/** The times at which events of these objects make their owner busy: runs in a worker thread. */
export default ({ texts, from, to, zone }: Input): Busy[] => {
  const range = { from, to, zone: zoneIn(zone) }
  let found: Busy[] = []
  for (const text of texts) {
    try {
      found = joined([...found, ...busyIn(text, range)])
    } catch {
      // An object that cannot be evaluated says nothing about its time.
    }
  }
  return found
}

function busyIn(text: string, range: TimeRange): Busy[] {
  const { from, to } = range
  const parts = partsOf(parseCalendar(text)).filter(({ name }) => name === 'vevent')
  const found: Busy[] = []
  for (const { start, end, part } of instancesOf(parts, range)) {
    const type = typeOf(part)
    if (type === undefined || end <= start) continue
    found.push({ start: Math.max(start, from), end: Math.min(end, to), type })
  }
  return found
}

function typeOf(part: ICAL.Component): Busy['type'] | undefined {
  const status = String(part.getFirstPropertyValue('status') ?? '').toUpperCase()
  const transparency = String(part.getFirstPropertyValue('transp') ?? '').toUpperCase()
  if (status === 'CANCELLED' || transparency === 'TRANSPARENT') return undefined
  return status === 'TENTATIVE' ? 'BUSY-TENTATIVE' : 'BUSY'
}
