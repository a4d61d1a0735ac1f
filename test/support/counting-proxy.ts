import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy in front of a server on loopback that counts what the server sends. */
export async function startCountingProxy(port: number) {
  const sockets = new Set<Socket>()
  let bytes = 0
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    server.on('data', (chunk) => {
      bytes += chunk.length
    })
    client.pipe(server)
    server.pipe(client)
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
  return {
    port: (proxy.address() as AddressInfo).port,
    /** Bytes that the server has sent. */
    get bytes() {
      return bytes
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
