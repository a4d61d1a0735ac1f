import { type AddressInfo, connect, createServer } from 'node:net'

/**
 * Stands between a server and its PostgreSQL. Once armed it waits for an answer that holds the text,
 * which says that the work is done, and cuts the connection instead of passing it on.
 */
export async function startCuttingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  let wanted: string | undefined
  let cuts = 0
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => {
      if (wanted !== undefined && chunk.includes(wanted)) {
        wanted = undefined
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
    cutAt(text: string) {
      wanted = text
    },
    stop: () => new Promise((resolve) => proxy.close(resolve)),
  }
}
