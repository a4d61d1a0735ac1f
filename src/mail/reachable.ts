import { connect } from 'node:net'

const TIMEOUT_MS = 2000

/** Returns whether a server accepts connections; the last result is kept for `ttlSeconds`. */
export function reachable(ttlSeconds: number, now: () => Date) {
  const results = new Map<string, { answer: Promise<boolean>; until: number }>()
  return (host: string | undefined, port: number): Promise<boolean> => {
    if (host === undefined) return Promise.resolve(false)
    const name = `${host}:${port}`
    const at = now().getTime()
    const known = results.get(name)
    if (known && at < known.until) return known.answer
    const answer = accepts(host, port)
    results.set(name, { answer, until: at + ttlSeconds * 1000 })
    return answer
  }
}

const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS })
    const end = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
