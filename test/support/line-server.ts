import type { Socket } from 'node:net'

/** Writes without end, as fast as the client reads. */
export function flood(socket: Socket, piece: string | Buffer) {
  const more = () => {
    if (socket.destroyed) return
    if (socket.write(piece)) setImmediate(more)
    else socket.once('drain', more)
  }
  more()
}

export type SocketReader = ReturnType<typeof reader>

/** Reads lines and literals of a client, as IMAP and ManageSieve have them. */
export function reader(socket: Socket) {
  let received = Buffer.alloc(0)
  let wake = () => {}
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  }
  socket.on('data', onData)
  const take = async (length: () => number): Promise<Buffer> => {
    for (;;) {
      const end = length()
      if (end >= 0 && received.length >= end) {
        const taken = received.subarray(0, end)
        received = received.subarray(end)
        return taken
      }
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    bytes: (length: number) => take(() => length),
    async line(): Promise<Buffer> {
      const line = await take(() => {
        const end = received.indexOf('\r\n')
        return end === -1 ? -1 : end + 2
      })
      return line.subarray(0, -2)
    },
    stop: () => socket.off('data', onData),
  }
}
