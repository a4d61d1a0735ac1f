import { startDatabaseProxy } from './proxy.ts'

/**
 * A proxy between a program and its PostgreSQL that falls silent: connections stay open, and nothing
 * passes any more.
 */
export async function startStallingProxy(databaseUrl: string) {
  let trigger: string | undefined
  let stalls = 0
  const proxy = await startDatabaseProxy(databaseUrl, () => {
    let isSilent = trigger === ''
    if (isSilent) stalls++
    return {
      fromClient: () => !isSilent,
      fromServer(chunk) {
        if (!isSilent && trigger && chunk.includes(trigger)) {
          isSilent = true
          stalls++
        }
        return !isSilent
      },
    }
  })
  return {
    ...proxy,
    /** Number of connections that have fallen silent. */
    get stalls() {
      return stalls
    },
    /** A connection falls silent when a response contains the text; '' silences new ones at once. */
    stallAt(text: string | undefined) {
      trigger = text
    },
  }
}
