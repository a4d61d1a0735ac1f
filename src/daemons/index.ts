import { StartupError } from '../startup-error.ts'
import { api } from './api.ts'
import type { Daemon } from './daemon.ts'
import { logIngestor } from './log-ingestor.ts'
import { monitoring } from './monitoring.ts'
import { rag } from './rag.ts'
import { rateLimiter } from './rate-limiter.ts'
import { webhooks } from './webhooks.ts'

/** In start order; they stop in reverse. */
export const daemons: readonly Daemon[] = [api, webhooks, rateLimiter, logIngestor, monitoring, rag]

/** `all`, or a comma list of names. */
export function chooseDaemons(list: string, source: string): readonly Daemon[] {
  if (list === 'all') return daemons
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unknown = names.find((name) => !daemons.some((daemon) => daemon.name === name))
  if (unknown !== undefined || names.length === 0) {
    const known = daemons.map(({ name }) => name).join(', ')
    throw new StartupError(
      `${source} names the unknown service "${unknown ?? ''}"; there are: ${known}`,
    )
  }
  return daemons.filter(({ name }) => names.includes(name))
}

const DEVELOPMENT_PORT = 5000

/** One listener a process: the API's when it is there, else the first daemon's own. */
export const defaultPort = (chosen: readonly Daemon[]): number =>
  chosen.includes(api) ? DEVELOPMENT_PORT : (chosen[0]?.port ?? DEVELOPMENT_PORT)
