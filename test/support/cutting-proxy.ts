import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A proxy between a server and its PostgreSQL. After `cutAt` it waits for a connection whose
 * responses contain the given texts in order, and closes that connection instead of forwarding the
 * last one.
 */
export async function startCuttingProxy(
  databaseUrl: string,
  { host = '127.0.0.1', port = 0 } = {},
) {
  const target = new URL(databaseUrl)
  let expected: string[] = []
  let cuts = 0
  let connections = 0
  let isAway = false
  let isSilent = false
  const clients = new Set<Socket>()
  const silenced = new Set<Socket>()
  const pairs = new Map<Socket, Socket>()
  const proxy = createServer((client) => {
    if (isAway) {
      client.destroy()
      return
    }
    clients.add(client)
    client.on('error', () => {}).on('close', () => clients.delete(client))
    if (isSilent) {
      silenced.add(client)
      return
    }
    const server = connect(Number(target.port), target.hostname)
    let seen = 0
    pairs.set(client, server)
    connections++
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => {
      while (seen < expected.length && chunk.includes(expected[seen] as string)) seen++
      if (seen > 0 && seen === expected.length) {
        expected = []
        cuts++
        client.destroy()
        server.destroy()
      } else client.write(chunk)
    })
    server.on('error', () => {}).on('close', () => client.destroy())
    client.on('close', () => {
      server.destroy()
      pairs.delete(client)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(port, host, resolve))
  const url = new URL(databaseUrl)
  url.hostname = host
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    /** Number of connections that were forwarded. */
    get connections() {
      return connections
    },
    get cuts() {
      return cuts
    },
    cutAt(...texts: string[]) {
      expected = texts
    },
    /** Closes every connection and accepts no other until `mend`. */
    sever() {
      isAway = true
      for (const client of clients) client.destroy()
    },
    /**
     * Forwards nothing more on the open connections, which stay open. New ones work as before, unless
     * `all` is set: then they are accepted and never answered until `mend`.
     */
    silence({ all = false } = {}) {
      isSilent = all
      for (const pair of pairs) {
        for (const socket of pair) socket.pause().removeAllListeners('data')
        silenced.add(pair[0])
      }
      pairs.clear()
    },
    /** Forwards again; connections that were silent are closed. */
    mend() {
      isAway = false
      isSilent = false
      for (const client of silenced) client.destroy()
      silenced.clear()
    },
    stop() {
      for (const client of clients) client.destroy()
      return new Promise((resolve) => proxy.close(resolve))
    },
  }
}
