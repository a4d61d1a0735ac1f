import { DEVELOPMENT_PORT } from '../config/server.ts'
import { StartupError } from '../startup-error.ts'
import type { Daemon } from './daemon.ts'

/** A daemon that operators can choose. Its code is loaded on start. */
export interface Offered {
  /** The name for `--services`; also the prefix of its metrics. */
  name: string
  /** The port when it runs alone in a process. */
  port: number
  /** With several workers it runs in each of them; the others run once, in a process of their own. */
  isSpread?: true
  load(): Promise<Daemon>
}

/** In start order; daemons stop in reverse order. */
export const daemons: readonly Offered[] = [
  {
    name: 'api',
    port: 8080,
    isSpread: true,
    load: async () => (await import('./api.ts')).api,
  },
  { name: 'worker', port: 8104, load: async () => (await import('./worker.ts')).worker },
  { name: 'webhooks', port: 8081, load: async () => (await import('./webhooks.ts')).webhooks },
  {
    name: 'rate_limiter',
    port: 8082,
    load: async () => (await import('./rate-limiter.ts')).rateLimiter,
  },
  { name: 'archiver', port: 8083, load: async () => (await import('./archiver.ts')).archiver },
  {
    name: 'encryption',
    port: 8084,
    load: async () => (await import('./encryption.ts')).encryption,
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
  {
    name: 'tracking',
    port: 8086,
    isSpread: true,
    load: async () => (await import('./tracking.ts')).tracking,
  },
  {
    name: 'delivery_optimizer',
    port: 8088,
    load: async () => (await import('./delivery-optimizer.ts')).deliveryOptimizer,
  },
  {
    name: 'autoconfig',
    port: 8100,
    isSpread: true,
    load: async () => (await import('./autoconfig.ts')).autoconfig,
  },
  {
    name: 'templates',
    port: 8089,
    isSpread: true,
    load: async () => (await import('./templates.ts')).templates,
  },
  {
    name: 'dashboard',
    port: 8088,
    isSpread: true,
    load: async () => (await import('./dashboard.ts')).dashboard,
  },
  {
    name: 'queue_manager',
    port: 8090,
    load: async () => (await import('./queue-manager.ts')).queueManager,
  },
  { name: 'storage', port: 8092, load: async () => (await import('./storage.ts')).storage },
  { name: 'oauth', port: 8091, load: async () => (await import('./oauth.ts')).oauth },
  {
    name: 'caldav',
    port: 8101,
    isSpread: true,
    load: async () => (await import('./caldav.ts')).caldav,
  },
  { name: 'jmap', port: 8098, load: async () => (await import('./jmap.ts')).jmap },
  {
    name: 'url_protection',
    port: 8090,
    isSpread: true,
    load: async () => (await import('./url-protection.ts')).urlProtection,
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

/** A process has one listener, on the port of the API or else of its first daemon. */
export const defaultPort = (chosen: readonly Offered[]): number =>
  chosen.some(({ name }) => name === 'api')
    ? DEVELOPMENT_PORT
    : (chosen[0]?.port ?? DEVELOPMENT_PORT)
