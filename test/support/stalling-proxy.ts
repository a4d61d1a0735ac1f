import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A proxy between a program and its PostgreSQL that falls silent: connections stay open, and nothing
 * passes any more.
 */
export async function startStallingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  let trigger: string | undefined
  let stalls = 0
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    let isSilent = trigger === ''
    if (isSilent) stalls++
    client.on('data', (chunk) => isSilent || server.write(chunk))
    server.on('data', (chunk) => {
      if (!isSilent && trigger && chunk.includes(trigger)) {
        isSilent = true
        stalls++
      }
      if (!isSilent) client.write(chunk)
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    /** How many connections have fallen silent. */
    get stalls() {
      return stalls
    },
    /** A connection falls silent when a response contains the text; '' silences new ones at once. */
    stallAt(text: string | undefined) {
      trigger = text
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
