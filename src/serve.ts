import type { FastifyInstance } from 'fastify'
import { readConfig } from './config.ts'
import { startCore } from './core.ts'
import { chooseDaemons, defaultPort } from './daemons/index.ts'
import { offerRestart } from './daemons/restarts.ts'
import { holdDataDir, prepareDataDir } from './database/data-dir.ts'
import { openDatabase, type Target } from './database/database.ts'
import { startEmbedded } from './database/embedded.ts'
import { migrate } from './database/migrate.ts'
import { isTypeQuery } from './database/type-query.ts'
import { health } from './features/health/index.ts'
import { startHeartbeat } from './features/monitoring/heartbeat.ts'
import { metrics } from './http/metrics.ts'
import { httpServer, type Service } from './http/server.ts'
import { serviceLog } from './log.ts'
import { explainStartFailure, StartupError } from './startup-error.ts'
import { VERSION } from './version.ts'

// Together under the ten seconds after which container engines kill.
const DRAIN_MS = 5000
const STOP_MS = 9000

type Closers = (() => Promise<unknown> | unknown)[]

/** Runs the chosen services in this process until a signal asks it to stop. */
export async function serve(services?: string): Promise<void> {
  const closers: Closers = []
  const interruption = new AbortController()
  let starting: Promise<void> | undefined
  const stop = async (code: number) => {
    if (interruption.signal.aborted) return
    interruption.abort()
    // Whatever hangs is cut off; the database recovers what was committed.
    setTimeout(() => process.exit(code || 1), STOP_MS).unref()
    // What a start has begun must be known before it can be undone.
    await starting?.catch(() => {})
    for (const close of closers.reverse()) {
      try {
        await close()
      } catch (error) {
        process.stderr.write(`mailplane: while stopping: ${(error as Error).message}\n`)
      }
    }
    process.exit(code)
  }
  // Signals may arrive twice, from the terminal and from npm; one stop is enough.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(0))
  }
  process.on('unhandledRejection', (error) => {
    if (!isTypeQuery(error)) throw error
  })
  // A launcher that started us on a newer Node goes away: so do we.
  process.on('disconnect', () => void stop(0))

  try {
    starting = start(services, closers, interruption.signal)
    await starting
  } catch (error) {
    if (interruption.signal.aborted) return
    process.stderr.write(`mailplane: ${explainStartFailure(error)}\n`)
    await stop(1)
  }
}

async function start(
  services: string | undefined,
  closers: Closers,
  interruption: AbortSignal,
): Promise<void> {
  const config = readConfig()
  const chosen =
    services === undefined
      ? chooseDaemons(config.SVC_SERVICES, 'SVC_SERVICES')
      : chooseDaemons(services, '--services')
  prepareDataDir(config.DATA_DIR)
  const logs = chosen.map(({ name }) => serviceLog(name, config))
  closers.push(() => {
    for (const { close } of logs) close()
  })
  const [{ log }] = logs as [(typeof logs)[0]]

  const target: Target =
    config.DATABASE_URL ?? (await startDatabase(config.DATA_DIR, log.error.bind(log), closers))
  interruption.throwIfAborted()
  const migration = openDatabase(target, { pool: 1, name: 'migration' })
  try {
    await migrate(migration.sql)
  } finally {
    await migration.close()
  }

  interruption.throwIfAborted()
  const core = await startCore({ config, log, target })
  closers.push(core.close)
  const offered = await core.access.bootstrap.prepare()

  const parts: Service[] = []
  for (const [index, { name, load }] of chosen.entries()) {
    const daemon = await load()
    const own = { ...core, log: logs[index]?.log ?? log }
    let running = await daemon.start(own)
    closers.push(() => running.stop())
    const { features } = running
    const measured = metrics(name)
    if (running.metrics) measured.extend(() => running.metrics?.() ?? '')
    parts.push({ name, log: own.log, metrics: measured, features })
    // One that has routes lives on in the listener; it restarts with the process.
    if (features.length === 0) {
      offerRestart(core, name, async () => {
        await running.stop()
        running = await daemon.start(own)
      })
    }
  }
  // The API brings its own.
  const [first] = parts
  if (first && first.name !== 'api') first.features.push(health(core, first.name))
  const app = await httpServer(core, parts as [Service, ...Service[]])
  closers.push(() => drain(app))
  const port = config.PORT ?? defaultPort(chosen)
  interruption.throwIfAborted()
  await app.listen({ host: config.HOST, port }).catch((error) => {
    if (error.syscall !== 'getaddrinfo') throw error
    throw new StartupError(`HOST ${config.HOST} is not an address of this machine (${error.code})`)
  })

  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  const address = `http://${host}:${(app.server.address() as { port: number }).port}`
  const heartbeat = startHeartbeat(core, parts, address)
  closers.push(heartbeat.stop)
  const files = offered.map(
    (kind) => `  first ${kind}: token in ${core.access.bootstrap.fileOf(kind)}`,
  )
  const lines = [
    `Mailplane ${VERSION} is ready at ${address} (${chosen.map(({ name }) => name).join(', ')})`,
    `  data: ${config.DATA_DIR}, ${config.DATABASE_URL ? 'external PostgreSQL' : 'embedded PostgreSQL'}`,
    ...files,
    `  next: ${files.length > 0 ? 'README.md, "First calls"; ' : ''}reference at ${address}/docs`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  log.info({ address, services: chosen.map(({ name }) => name) }, 'ready')
}

/** Answers what has been asked; a client that does not finish asking is not waited for. */
async function drain(app: FastifyInstance): Promise<void> {
  // Who is answered now must not hold the connection open for a next request.
  app.server.keepAliveTimeout = 1
  const patience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
  await app.close()
  clearTimeout(patience)
}

async function startDatabase(
  dataDir: string,
  report: (message: string) => void,
  closers: Closers,
): Promise<Target> {
  const hold = await holdDataDir(dataDir)
  if (!hold) {
    throw new StartupError(
      `DATA_DIR ${dataDir} is in use by another Mailplane; stop it, choose another folder, or set DATABASE_URL to share a database`,
    )
  }
  closers.push(hold.release)
  const server = await startEmbedded(dataDir, report)
  closers.push(server.stop)
  return server.target
}
