import { DEVELOPMENT_PORT } from '../config.ts'
import { StartupError } from '../startup-error.ts'
import { analytics } from './analytics.ts'
import { api } from './api.ts'
import { certManager } from './cert-manager.ts'
import { contentFilterDaemon } from './content-filter.ts'
import type { Daemon } from './daemon.ts'
import { deliveryOptimizer } from './delivery-optimizer.ts'
import { logIngestor } from './log-ingestor.ts'
import { migration } from './migration.ts'
import { monitoring } from './monitoring.ts'
import { rag } from './rag.ts'
import { rateLimiter } from './rate-limiter.ts'
import { tracking } from './tracking.ts'
import { webhooks } from './webhooks.ts'

/** In start order; they stop in reverse. */
export const daemons: readonly Daemon[] = [
  api,
  webhooks,
  rateLimiter,
  logIngestor,
  monitoring,
  certManager,
  analytics,
  migration,
  contentFilterDaemon,
  tracking,
  deliveryOptimizer,
  rag,
]

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

/** One listener a process: the API's when it is there, else the first daemon's own. */
export const defaultPort = (chosen: readonly Daemon[]): number =>
  chosen.includes(api) ? DEVELOPMENT_PORT : (chosen[0]?.port ?? DEVELOPMENT_PORT)
