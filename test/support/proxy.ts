import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The two directions of a connection; a chunk for which they return false does not pass. */
interface Watch {
  fromClient?(chunk: Buffer, server: Socket): boolean
  fromServer?(chunk: Buffer, client: Socket): boolean
}

/** A proxy on loopback in front of a server. `open` is called for each connection. */
export async function startProxy(
  { host, port }: { host: string; port: number },
  open: () => Watch,
) {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(port, host)
    const { fromClient = () => true, fromServer = () => true } = open()
    forward(client, server, (chunk) => fromClient(chunk, server))
    forward(server, client, (chunk) => fromServer(chunk, client))
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
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => proxy.close(() => resolve()))
    },
  }
}

/** The same in front of a PostgreSQL; `url` leads through the proxy. */
export async function startDatabaseProxy(databaseUrl: string, open: () => Watch) {
  const url = new URL(databaseUrl)
  const { port, stop } = await startProxy({ host: url.hostname, port: Number(url.port) }, open)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return { url: url.href, stop }
}

/** Reads no faster than the other side does. */
function forward(from: Socket, to: Socket, passes: (chunk: Buffer) => boolean): void {
  from.on('data', (chunk) => {
    if (!passes(chunk) || to.write(chunk)) return
    from.pause()
    to.once('drain', () => from.resume())
  })
}
