import { expandCalendar } from './expand.ts'
import { zoneIn } from './zone.ts'

interface Input {
  texts: string[]
  from: number
  to: number
  /** XML content of the time zone in which times without one count. */
  zone?: string | undefined
}

/** Recurring objects as their instances: runs in a worker thread. */
export default ({ texts, from, to, zone }: Input): string[] => {
  const range = { from, to, zone: zoneIn(zone) }
  return texts.map((text) => {
    try {
      return expandCalendar(text, range)
    } catch {
      return text
    }
  })
}
