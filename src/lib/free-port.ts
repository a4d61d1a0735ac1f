import { createServer } from 'node:net'

// Below the range outgoing connections take theirs from, so that none of them sits on one of ours.
const LOWEST = 20_000
const COUNT = 12_000

/** A port of loopback that nobody listens on now; whoever takes it must bear that somebody was faster. */
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
