import type { AddressInfo, Server } from 'node:net'
import type { Log } from '../log.ts'
import { StartupError } from '../startup-error.ts'

const RETRY_MS = 5000

interface Place {
  host: string
  /** As configured; undefined takes the default. */
  port: number | undefined
  fallback: number
  variable: string
}

export type Listener = Awaited<ReturnType<typeof listenAt>>

/**
 * Listens where the configuration says. A default port that another Mailplane of this machine has is
 * no reason not to start: it is taken as soon as it is free.
 */
export async function listenAt(server: Server, place: Place, log: Log) {
  const { host, fallback, variable } = place
  const port = place.port ?? fallback
  let retry: NodeJS.Timeout | undefined

  const attempt = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
  const again = () => {
    retry = setTimeout(() => attempt().catch(again), RETRY_MS)
    retry.unref()
  }
  try {
    await attempt()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (place.port !== undefined || code !== 'EADDRINUSE') {
      throw new StartupError(`${variable}: cannot listen on ${host}:${port} (${code})`)
    }
    log.warn({ port }, `the port is taken; set ${variable} to have this service on another`)
    again()
  }
  return {
    get port(): number | undefined {
      return (server.address() as AddressInfo | null)?.port
    },
    stop: () => clearTimeout(retry),
  }
}
