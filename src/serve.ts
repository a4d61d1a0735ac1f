import { type Config, readConfig } from './config/index.ts'
import { chooseDaemons } from './daemons/index.ts'
import { holdDataDir, inUse, prepareDataDir } from './database/data-dir.ts'
import type { Target } from './database/database.ts'
import { startEmbedded } from './database/embedded.ts'
import type { Log } from './log.ts'
import { type Closers, live } from './processes/lifecycle.ts'
import { openLogs, warnAboutSettings } from './processes/logs.ts'
import { connectionsFor, type Plan, planProcesses } from './processes/plan.ts'
import { upgradeDatabase } from './upgrade.ts'
import { VERSION } from './version.ts'

/** Runs the chosen services until a signal stops them, in this process or in several below it. */
export async function serve(services?: string): Promise<void> {
  let drainMs = 0
  await live({
    stopBy,
    failed: (problem) => process.stderr.write(`mailplane: ${problem}\n`),
    pauseMs: () => drainMs,
    async start(closers, stopping) {
      const config = readConfig()
      await start(config, services, closers, stopping)
      drainMs = config.SVC_DRAIN_SECONDS * 1000
    },
  })
}

function stopBy(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
  // The launcher that started this process on the bundled Node has ended.
  process.on('disconnect', stop)
}

/** The start sequence. Each step adds the closer that undoes it; an interruption ends it early. */
async function start(
  config: Config,
  services: string | undefined,
  closers: Closers,
  stopping: AbortSignal,
): Promise<void> {
  const daemons =
    services === undefined
      ? chooseDaemons(config.SVC_SERVICES, 'SVC_SERVICES')
      : chooseDaemons(services, '--services')
  const plan = planProcesses(config, daemons)
  prepareDataDir(config.DATA_DIR)
  const logs = openLogs(plan.workers > 1 ? daemons.slice(0, 1) : daemons, config, closers)
  const [log] = logs

  const target = config.DATABASE_URL ?? (await startDatabase(config, plan, log, closers, stopping))
  stopping.throwIfAborted()
  await upgradeDatabase(target, config, {
    migration: ({ migration, state, ms }) => log.info({ migration, ms }, `migration ${state}`),
    backup: (path, pending) => log.info({ path, pending }, 'backup before migration made'),
  })
  stopping.throwIfAborted()
  warnAboutSettings(config, log)
  // Loaded on demand: a process that only watches others needs none of the API.
  const { url, tokenFiles } =
    plan.workers > 1
      ? await (await import('./processes/parent.ts')).startParts({
          config,
          log,
          plan,
          target,
          closers,
          stopping,
        })
      : await (await import('./processes/alone.ts')).startAlone({
          config,
          daemons,
          target,
          closers,
          stopping,
          logs,
        })

  const names = daemons.map(({ name }) => name)
  process.stdout.write(readyMessage(config, url, names, tokenFiles, plan.workers))
  log.info({ address: url, services: names, workers: plan.workers }, 'ready')
}

async function startDatabase(
  config: Config,
  plan: Plan,
  log: Log,
  closers: Closers,
  interruption: AbortSignal,
): Promise<Target> {
  const { DATA_DIR } = config
  const hold = await holdDataDir(DATA_DIR)
  if (!hold) throw inUse(DATA_DIR)
  closers.push(hold.release)
  const connections = connectionsFor(config, plan)
  const server = await startEmbedded(DATA_DIR, (message) => log.error(message), {
    interruption,
    connections,
  })
  closers.push(server.stop)
  return server.target
}

function readyMessage(
  { DATA_DIR, DATABASE_URL, SVC_DOMAIN_OWNERSHIP }: Config,
  url: string,
  services: readonly string[],
  tokenFiles: readonly string[],
  workers: number,
): string {
  const lines = [
    `Mailplane ${VERSION} is ready at ${url} (${services.join(', ')})`,
    `  data: ${DATA_DIR}, ${DATABASE_URL ? 'external PostgreSQL' : 'embedded PostgreSQL'}`,
    ...(workers > 1 ? [`  workers: ${workers}`] : []),
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
