import type { FastifyInstance } from 'fastify'
import { type Config, readConfig } from './config/index.ts'
import { type Core, startCore } from './core.ts'
import { chooseDaemons, defaultPort, type Offered } from './daemons/index.ts'
import { offerRestart } from './daemons/restarts.ts'
import { holdDataDir, inUse, prepareDataDir } from './database/data-dir.ts'
import type { Target } from './database/database.ts'
import { startEmbedded } from './database/embedded.ts'
import { health } from './features/health/index.ts'
import { startHeartbeat } from './features/monitoring/heartbeat.ts'
import { webhookQueue } from './features/webhooks/delivery/enqueue.ts'
import { metrics } from './http/metrics.ts'
import { httpServer, type Service } from './http/server.ts'
import { PROCESS } from './jobs/lease.ts'
import { type Log, serviceLog } from './log.ts'
import { explainStartFailure, StartupError } from './startup-error.ts'
import { upgradeDatabase } from './upgrade.ts'
import { VERSION } from './version.ts'

// Container engines kill a process ten seconds after SIGTERM; both limits stay below that.
const DRAIN_MS = 5000
const STOP_MS = 9000

/** Undoes the steps of the start. They run in reverse order when the process stops. */
type Closers = (() => Promise<unknown> | unknown)[]

/** Runs the chosen services in this process until a signal stops it. */
export async function serve(services?: string): Promise<void> {
  const closers: Closers = []
  const interruption = new AbortController()
  let starting: Promise<void> | undefined
  const stop = async (code: number) => {
    // The terminal and npm may both send the signal.
    if (interruption.signal.aborted) return
    interruption.abort()
    // A closer that hangs must not keep the process alive; the database recovers committed work.
    setTimeout(() => process.exit(code || 1), STOP_MS).unref()
    // The start adds its last closers before it ends.
    await starting?.catch(() => {})
    await closeAll(closers)
    process.exit(code)
  }
  stopOnSignals(() => void stop(0))

  try {
    starting = start(services, closers, interruption.signal)
    await starting
  } catch (error) {
    if (interruption.signal.aborted) return
    process.stderr.write(`mailplane: ${explainStartFailure(error)}\n`)
    await stop(1)
  }
}

function stopOnSignals(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
  // The launcher that started this process on the bundled Node has ended.
  process.on('disconnect', stop)
}

async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.reverse()) {
    try {
      await close()
    } catch (error) {
      process.stderr.write(`mailplane: while stopping: ${(error as Error).message}\n`)
    }
  }
}

/** The start sequence. Each step adds the closer that undoes it; an interruption ends it early. */
async function start(
  services: string | undefined,
  closers: Closers,
  interruption: AbortSignal,
): Promise<void> {
  const config = readConfig()
  const daemons =
    services === undefined
      ? chooseDaemons(config.SVC_SERVICES, 'SVC_SERVICES')
      : chooseDaemons(services, '--services')
  prepareDataDir(config.DATA_DIR)
  const logs = openLogs(daemons, config, closers)
  const [log] = logs

  const target = config.DATABASE_URL ?? (await startDatabase(config, log, closers, interruption))
  interruption.throwIfAborted()
  await upgradeDatabase(target, config, {
    migration: ({ migration, state, ms }) => log.info({ migration, ms }, `migration ${state}`),
    backup: (path, pending) => log.info({ path, pending }, 'backup before migration made'),
  })
  interruption.throwIfAborted()

  const core = await startCore({ config, log, target, listeners: [webhookQueue(config)] })
  closers.push(core.close)
  if (config.SVC_HASHING_COST === 'lowest') {
    log.warn('SVC_HASHING_COST is lowest: stored passwords are easy to guess')
  }
  if (config.SVC_DOMAIN_OWNERSHIP === 'off') {
    log.warn('SVC_DOMAIN_OWNERSHIP is off: every organization can take the mail of any domain')
  }
  if (process.getuid?.() === 0) {
    log.warn('this process runs as root: create the user mailplane or set SVC_USER')
  }
  const bootstrapKinds = await core.access.bootstrap.prepare()
  const running = await startDaemons(core, daemons, logs, closers)

  const app = await httpServer(core, running)
  closers.push(() => drain(app))
  interruption.throwIfAborted()
  const url = await listen(app, config.HOST, config.PORT ?? defaultPort(daemons))
  closers.push(startHeartbeat(core, running, url, PROCESS).stop)

  const names = daemons.map(({ name }) => name)
  const tokenFiles = bootstrapKinds.map(
    (kind) => `first ${kind}: token in ${core.access.bootstrap.fileOf(kind)}`,
  )
  process.stdout.write(readyMessage(config, url, names, tokenFiles))
  log.info({ address: url, services: names }, 'ready')
}

/** Opens one log per daemon. The first one also takes the lines of the shared parts. */
function openLogs(daemons: readonly Offered[], config: Config, closers: Closers): [Log, ...Log[]] {
  const logs = daemons.map(({ name }) => serviceLog(name, config))
  closers.push(() => {
    for (const { close } of logs) close()
  })
  return logs.map(({ log }) => log) as [Log, ...Log[]]
}

async function startDatabase(
  { DATA_DIR }: Config,
  log: Log,
  closers: Closers,
  interruption: AbortSignal,
): Promise<Target> {
  const hold = await holdDataDir(DATA_DIR)
  if (!hold) throw inUse(DATA_DIR)
  closers.push(hold.release)
  const server = await startEmbedded(DATA_DIR, (message) => log.error(message), interruption)
  closers.push(server.stop)
  return server.target
}

async function startDaemons(
  core: Core,
  daemons: readonly Offered[],
  logs: readonly [Log, ...Log[]],
  closers: Closers,
): Promise<[Service, ...Service[]]> {
  const services: Service[] = []
  for (const [index, daemon] of daemons.entries()) {
    const log = logs[index] ?? logs[0]
    services.push(await startDaemon({ ...core, log }, daemon, closers))
  }
  const [first] = services
  // The API has its own health routes.
  if (first && first.name !== 'api') first.features.push(health(core, first.name))
  return services as [Service, ...Service[]]
}

async function startDaemon(core: Core, { name, load }: Offered, closers: Closers) {
  const daemon = await load()
  let running = await daemon.start(core)
  closers.push(() => running.stop())
  const { features } = running
  const measured = metrics(name)
  measured.extend(async () => (await running.metrics?.()) ?? '')
  // The HTTP server keeps the routes of a daemon, so a daemon with routes restarts with the process.
  if (features.length === 0) {
    offerRestart(core, name, async () => {
      await running.stop()
      running = await daemon.start(core)
    })
  }
  return { name, log: core.log, metrics: measured, features }
}

/** Returns the URL of the listener; with port 0 the system chooses the port. */
async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port }).catch((error) => {
    if (error.syscall !== 'getaddrinfo') throw error
    throw new StartupError(`HOST ${host} is not an address of this machine (${error.code})`)
  })
  const actualPort = (app.server.address() as { port: number }).port
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`
}

function readyMessage(
  { DATA_DIR, DATABASE_URL, SVC_DOMAIN_OWNERSHIP }: Config,
  url: string,
  services: readonly string[],
  tokenFiles: readonly string[],
): string {
  const lines = [
    `Mailplane ${VERSION} is ready at ${url} (${services.join(', ')})`,
    `  data: ${DATA_DIR}, ${DATABASE_URL ? 'external PostgreSQL' : 'embedded PostgreSQL'}`,
    ...(SVC_DOMAIN_OWNERSHIP === 'off'
      ? ['  SVC_DOMAIN_OWNERSHIP is off: domains are hosted without proof of ownership']
      : []),
    ...tokenFiles.map((line) => `  ${line}`),
    `  next: ${nextSteps(url, services, tokenFiles.length > 0)}`,
  ]
  return `${lines.join('\n')}\n`
}

function nextSteps(url: string, services: readonly string[], isFirstRun: boolean): string {
  const page = services.includes('dashboard') ? `open ${url}/ in a browser` : ''
  const readme = isFirstRun ? 'README.md, "First calls"' : ''
  const first = [page, readme].filter(Boolean).join(', or ')
  return [first, `reference at ${url}/docs`].filter(Boolean).join('; ')
}

/** Completes the requests under way, then closes connections that are still open after DRAIN_MS. */
async function drain(app: FastifyInstance): Promise<void> {
  // Connections close after their current response instead of waiting for another request.
  app.server.keepAliveTimeout = 1
  const timer = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
  await app.close()
  clearTimeout(timer)
}
