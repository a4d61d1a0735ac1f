import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const START_MS = 60_000

/** Waits until a program listens on a port of loopback. */
export async function listening(name: string, port: number): Promise<void> {
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(100)) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
  }
  throw new Error(`${name} did not start in time`)
}
