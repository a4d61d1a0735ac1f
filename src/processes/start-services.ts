import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/index.ts'
import { type Core, startCore } from '../core.ts'
import type { Offered } from '../daemons/index.ts'
import { offerRestart } from '../daemons/restarts.ts'
import type { Target } from '../database/database.ts'
import { health } from '../features/health/index.ts'
import { webhookQueue } from '../features/webhooks/delivery/enqueue.ts'
import { metrics } from '../http/metrics.ts'
import type { Service } from '../http/server.ts'
import type { Log } from '../log.ts'
import { StartupError } from '../startup-error.ts'
import type { Closers } from './lifecycle.ts'
import { urlOf } from './url.ts'

export interface Started {
  core: Core
  services: [Service, ...Service[]]
  /** The daemons that can restart without the others. */
  restarts: Map<string, () => Promise<void>>
}

export interface Start {
  config: Config
  daemons: readonly Offered[]
  target: Target
  closers: Closers
  stopping: AbortSignal
  logs: readonly [Log, ...Log[]]
}

/** Starts the core and the daemons of this process. Nothing listens for requests yet. */
export async function startServices(start: Start): Promise<Started> {
  const { config, daemons, target, closers, stopping, logs } = start
  const [log] = logs
  const listeners = [webhookQueue(config)]
  const core = await startCore({ config, log, target, listeners, stopping })
  closers.push(core.close)
  const restarts: Started['restarts'] = new Map()
  const services: Service[] = []
  for (const [index, daemon] of daemons.entries()) {
    const own = { ...core, log: logs[index] ?? log }
    services.push(await startDaemon(own, daemon, closers, restarts))
  }
  return { core, services: services as [Service, ...Service[]], restarts }
}

async function startDaemon(
  core: Core,
  { name, load }: Offered,
  closers: Closers,
  restarts: Started['restarts'],
): Promise<Service> {
  const daemon = await load()
  let running = await daemon.start(core)
  closers.push(() => running.stop())
  const { features } = running
  const measured = metrics(name)
  measured.extend(async () => (await running.metrics?.()) ?? '')
  // The HTTP server keeps the routes of a daemon, so a daemon with routes restarts with the process.
  if (features.length === 0) {
    const restart = async () => {
      await running.stop()
      running = await daemon.start(core)
    }
    restarts.set(name, restart)
    offerRestart(core, name, restart)
  }
  return { name, log: core.log, metrics: measured, features }
}

/** Adds the health routes, which the API has already. */
export function addHealth({ core, services: [first] }: Started): void {
  if (first.name !== 'api') first.features.push(health(core, first.name))
}

/** Writes the files with the tokens of the first accounts; returns lines that name them. */
export async function prepareBootstrap({ access }: Core): Promise<string[]> {
  const kinds = await access.bootstrap.prepare()
  return kinds.map((kind) => `first ${kind}: token in ${access.bootstrap.fileOf(kind)}`)
}

/** Returns the URL of the listener; with port 0 the system chooses the port. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port }).catch((error) => {
    if (error.syscall !== 'getaddrinfo') throw error
    throw new StartupError(`HOST ${host} is not an address of this machine (${error.code})`)
  })
  return urlOf(host, (app.server.address() as { port: number }).port)
}
