import { DEVELOPMENT_PORT } from '../config.ts'
import { StartupError } from '../startup-error.ts'
import type { Daemon } from './daemon.ts'

/** A daemon that can be chosen; its code is loaded when it is. */
export interface Offered {
  /** As operators call it; also the prefix of its metrics. */
  name: string
  /** Where it listens when it runs alone. */
  port: number
  load(): Promise<Daemon>
}

/** In start order; they stop in reverse. */
export const daemons: readonly Offered[] = [
  { name: 'api', port: 8080, load: async () => (await import('./api.ts')).api },
  { name: 'webhooks', port: 8081, load: async () => (await import('./webhooks.ts')).webhooks },
  {
    name: 'rate_limiter',
    port: 8082,
    load: async () => (await import('./rate-limiter.ts')).rateLimiter,
  },
  {
    name: 'log_ingestor',
    port: 8087,
    load: async () => (await import('./log-ingestor.ts')).logIngestor,
  },
  {
    name: 'monitoring',
    port: 8085,
    load: async () => (await import('./monitoring.ts')).monitoring,
  },
  {
    name: 'cert_manager',
    port: 8103,
    load: async () => (await import('./cert-manager.ts')).certManager,
  },
  { name: 'analytics', port: 8085, load: async () => (await import('./analytics.ts')).analytics },
  { name: 'migration', port: 8099, load: async () => (await import('./migration.ts')).migration },
  {
    name: 'content_filter',
    port: 8102,
    load: async () => (await import('./content-filter.ts')).contentFilterDaemon,
  },
  { name: 'tracking', port: 8086, load: async () => (await import('./tracking.ts')).tracking },
  {
    name: 'delivery_optimizer',
    port: 8088,
    load: async () => (await import('./delivery-optimizer.ts')).deliveryOptimizer,
  },
  { name: 'rag', port: 8090, load: async () => (await import('./rag.ts')).rag },
]

/** `all`, or a comma list of names. */
export function chooseDaemons(list: string, source: string): readonly Offered[] {
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
export const defaultPort = (chosen: readonly Offered[]): number =>
  chosen.some(({ name }) => name === 'api')
    ? DEVELOPMENT_PORT
    : (chosen[0]?.port ?? DEVELOPMENT_PORT)
