import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

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
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let point: Point | undefined
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    let isCut = false
    client.on('data', (chunk) => {
      if (isCut) return
      if (point && chunk.includes(LOCK)) point.begins()
      if (point && chunk.includes(point.statement)) {
        const { isSent, kill } = point
        point = undefined
        isCut = true
        if (isSent) server.write(chunk)
        kill()
        return
      }
      server.write(chunk)
    })
    server.on('data', (chunk) => isCut || client.write(chunk))
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.end()
      })
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    killAt(next: Point) {
      point = next
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
