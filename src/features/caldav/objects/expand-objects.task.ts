import { expandCalendar } from './expand.ts'

interface Input {
  texts: string[]
  from: number
  to: number
}

/** Recurring objects as their instances: runs in a worker thread. */
export default ({ texts, from, to }: Input): string[] =>
  texts.map((text) => {
    try {
      return expandCalendar(text, from, to)
    } catch {
      return text
    }
  })
