import type { Element } from '../../../lib/xml.ts'
import type { Kind } from '../protocol/places.ts'
import { matchesCalendar } from './filter-calendar.ts'
import { matchesCard } from './filter-card.ts'
import { zoneIn } from './zone.ts'

interface Input {
  kind: Kind
  filter: Element
  texts: string[]
  /** XML content of the time zone in which times without one count. */
  zone?: string | undefined
}

/** Tests each object against a filter. Runs in a worker thread, because recurrences can take long. */
export default ({ kind, filter, texts, zone }: Input): boolean[] => {
  if (kind === 'addressbook') return texts.map((text) => matchesCard(text, filter))
  const read = zoneIn(zone)
  return texts.map((text) => safely(() => matchesCalendar(text, filter, read)))
}

/** An object that the library cannot evaluate is shown, so that it does not vanish from programs. */
function safely(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return true
  }
}
