import type { AddressInfo, Server } from 'node:net'
import type { Log } from '../log.ts'
import { StartupError } from '../startup-error.ts'

const RETRY_MS = 1000

interface Place {
  host: string
  /** Undefined selects the default. */
  port: number | undefined
  fallback: number
  variable: string
  /** The operator has set the port, so a port that is in use stops the start. */
  isSet: boolean
}

export type Listener = Awaited<ReturnType<typeof listenAt>>

/**
 * Listens on a port. One that the operator did not set and that is in use does not stop the start:
 * listening is retried until the port is free.
 */
export async function listenAt(server: Server, place: Place, log: Log) {
  const { host, fallback, variable } = place
  let port = place.port ?? fallback
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
  const waitFor = (code: string | undefined) => {
    const problem = `${host}:${port} cannot be used (${code}): another program listens there, perhaps another Mailplane; until it ends the mail servers cannot ask this one. Set ${variable} to choose another port`
    log.error({ port, alert: true }, problem)
    process.stderr.write(`mailplane: ${problem}\n`)
    again()
  }
  try {
    await attempt()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (place.isSet || code !== 'EADDRINUSE') {
      throw new StartupError(`${variable}: cannot listen on ${host}:${port} (${code})`)
    }
    waitFor(code)
  }
  return {
    get port(): number | undefined {
      return (server.address() as AddressInfo | null)?.port
    },
    /** Listens on another port: a private edge has started and asks there. */
    async move(wanted: number | undefined): Promise<void> {
      if ((wanted ?? fallback) === port) return
      port = wanted ?? fallback
      clearTimeout(retry)
      // Open connections go on.
      if (server.listening) server.close()
      await attempt().catch((error) => waitFor((error as NodeJS.ErrnoException).code))
    },
    stop: () => clearTimeout(retry),
  }
}
