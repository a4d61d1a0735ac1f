import { startDatabaseProxy } from './proxy.ts'

/** The first statement of a change of an index. */
const LOCK = 'pg_advisory_xact_lock(hashtextextended'

interface Point {
  /** The text of a statement. */
  statement: string
  /** True when the database gets the statement, and the process does not get the answer. */
  isSent: boolean
  kill(): void
  /** Called when the process begins a change of an index. */
  begins(): void
}

/** A proxy in front of PostgreSQL that kills the process of a connection at a statement. */
export async function startKillingProxy(databaseUrl: string) {
  let point: Point | undefined
  const proxy = await startDatabaseProxy(databaseUrl, () => {
    let isCut = false
    return {
      fromClient(chunk, server) {
        if (isCut) return false
        if (point && chunk.includes(LOCK)) point.begins()
        if (!point || !chunk.includes(point.statement)) return true
        const { isSent, kill } = point
        point = undefined
        isCut = true
        if (isSent) server.write(chunk)
        kill()
        return false
      },
      fromServer: () => !isCut,
    }
  })
  return {
    ...proxy,
    killAt(next: Point) {
      point = next
    },
  }
}
