import { createServer } from 'node:net'

// Below the ephemeral range, so that no outgoing connection uses one of these ports.
const LOWEST = 20_000
const COUNT = 12_000

/** Returns a free port on loopback. Another process may take it before the caller binds it. */
export async function freePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * COUNT)
    if (!taken.has(port) && (await isFree(port))) return port
  }
}

export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
