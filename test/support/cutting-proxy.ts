import { type AddressInfo, connect, createServer } from 'node:net'

/**
 * Stands between a server and its PostgreSQL. Once armed it waits for a connection whose answers hold
 * these texts, one after the other: the last one says that the work is done. It cuts the connection
 * instead of passing that on.
 */
export async function startCuttingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  let wanted: string[] = []
  let cuts = 0
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    let seen = 0
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => {
      while (seen < wanted.length && chunk.includes(wanted[seen] as string)) seen++
      if (seen > 0 && seen === wanted.length) {
        wanted = []
        cuts++
        client.destroy()
        server.destroy()
      } else client.write(chunk)
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    get cuts() {
      return cuts
    },
    cutAt(...texts: string[]) {
      wanted = texts
    },
    stop: () => new Promise((resolve) => proxy.close(resolve)),
  }
}
