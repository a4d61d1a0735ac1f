import type { Element } from '../../../lib/xml.ts'
import type { Kind } from '../protocol/places.ts'
import { matchesCalendar } from './filter-calendar.ts'
import { matchesCard } from './filter-card.ts'

interface Input {
  kind: Kind
  filter: Element
  texts: string[]
}

/** Tests each object against a filter. Runs in a worker thread, because recurrences can take long. */
export default ({ kind, filter, texts }: Input): boolean[] =>
  texts.map((text) =>
    kind === 'calendar' ? safely(() => matchesCalendar(text, filter)) : matchesCard(text, filter),
  )

/** An object that the library cannot evaluate is shown, so that it does not vanish from programs. */
function safely(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return true
  }
}
