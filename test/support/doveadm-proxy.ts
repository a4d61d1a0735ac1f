import type { Socket } from 'node:net'
import { startProxy } from './proxy.ts'

interface Interruption {
  /** A command of the next request that is interrupted. */
  command: string
  /** True when Dovecot gets the request, and only its answer is lost. */
  isSent: boolean
  /** Called at that moment, for example to kill the process that sent the request, which waits for it. */
  meanwhile?(): unknown
}

/** A proxy in front of the administration interface of a Dovecot that interrupts a request. */
export async function startDoveadmProxy(dovecotPort: number) {
  let next: Interruption | undefined
  const { port, stop } = await startProxy({ host: '127.0.0.1', port: dovecotPort }, () => {
    let reached: Interruption | undefined
    return {
      fromClient(chunk, server) {
        if (!next || !chunk.includes(`["${next.command}"`)) return true
        reached = next
        next = undefined
        if (!reached.isSent) void cut(reached, server)
        return reached.isSent
      },
      fromServer(_, client) {
        if (reached) void cut(reached, client)
        return !reached
      },
    }
  })
  return {
    url: `http://127.0.0.1:${port}`,
    stop,
    interrupt(one: Interruption) {
      next = one
    },
    /** False while an interruption is still to come. */
    get isInterrupted() {
      return next === undefined
    },
  }
}

async function cut({ meanwhile }: Interruption, socket: Socket): Promise<void> {
  await meanwhile?.()
  socket.destroy()
}
