import { readZone } from './zone.ts'

/** The reason for refusing a time zone; undefined when it can be used. Runs in a worker thread. */
export default (content: string): string | undefined => {
  try {
    readZone(content)
    return undefined
  } catch (error) {
    // The library throws plain errors for values that it cannot read.
    return (error as Error).message
  }
}
