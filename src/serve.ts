import { readConfig } from './config.ts'
import { startCore } from './core.ts'
import { chooseDaemons, defaultPort } from './daemons/index.ts'
import { holdDataDir, prepareDataDir } from './database/data-dir.ts'
import { openDatabase, type Target } from './database/database.ts'
import { startEmbedded } from './database/embedded.ts'
import { migrate } from './database/migrate.ts'
import { metrics } from './http/metrics.ts'
import { httpServer, type Service } from './http/server.ts'
import { serviceLog } from './log.ts'
import { explainStartFailure, StartupError } from './startup-error.ts'
import { VERSION } from './version.ts'

const DRAIN_MS = 10_000

/** Runs the chosen services in this process until a signal asks it to stop. */
export async function serve(services?: string): Promise<void> {
  const closers: (() => Promise<unknown> | unknown)[] = []
  let stopping = false
  const stop = async (code: number) => {
    if (stopping) return
    stopping = true
    // Whatever hangs is cut off; the database recovers what was committed.
    setTimeout(() => process.exit(code || 1), DRAIN_MS).unref()
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
  process.on('SIGTERM', () => void stop(0))
  process.on('SIGINT', () => void stop(0))
  // A launcher that started us on a newer Node goes away: so do we.
  process.on('disconnect', () => void stop(0))

  try {
    await start(services, closers)
  } catch (error) {
    process.stderr.write(`mailplane: ${explainStartFailure(error)}\n`)
    await stop(1)
  }
}

async function start(services: string | undefined, closers: (() => unknown)[]): Promise<void> {
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
  const migration = openDatabase(target, { pool: 1, name: 'migration' })
  try {
    await migrate(migration.sql)
  } finally {
    await migration.close()
  }

  const core = await startCore({ config, log, target })
  closers.push(core.close)
  const offered = await core.access.bootstrap.prepare()

  const parts: Service[] = []
  for (const [index, daemon] of chosen.entries()) {
    const own = { ...core, log: logs[index]?.log ?? log }
    const { features, stop } = await daemon.start(own)
    closers.push(stop)
    parts.push({ name: daemon.name, log: own.log, metrics: metrics(daemon.name), features })
  }
  const app = await httpServer(core, parts as [Service, ...Service[]])
  closers.push(() => app.close())
  const port = config.PORT ?? defaultPort(chosen)
  await app.listen({ host: config.HOST, port })

  const address = `http://${config.HOST}:${(app.server.address() as { port: number }).port}`
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

async function startDatabase(
  dataDir: string,
  report: (message: string) => void,
  closers: (() => unknown)[],
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
