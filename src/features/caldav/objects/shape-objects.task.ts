import { type Shape, shaped } from './shape.ts'
import { zoneIn } from './zone.ts'

interface Input {
  texts: string[]
  shape: Shape
  /** XML content of the time zone in which times without one count. */
  zone?: string | undefined
}

/** Objects in the form that a report asks for: runs in a worker thread. */
export default ({ texts, shape, zone }: Input): string[] => {
  const read = zoneIn(zone)
  return texts.map((text) => {
    try {
      return shaped(text, shape, read)
    } catch {
      // An object that the library cannot evaluate is returned as it is stored.
      return text
    }
  })
}
