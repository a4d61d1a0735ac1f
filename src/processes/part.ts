import type { Socket } from 'node:net'
import { acceptForwarded } from '../access/forwarded-peer.ts'
import { type Config, readConfig } from '../config/index.ts'
import { chooseDaemons } from '../daemons/index.ts'
import { offerRestart } from '../daemons/restarts.ts'
import type { Target } from '../database/database.ts'
import { startHeartbeat } from '../features/monitoring/heartbeat.ts'
import { httpServer, renderAll } from '../http/server.ts'
import { PROCESS } from '../jobs/lease.ts'
import { channel } from './channel.ts'
import { receiveConnections } from './connections.ts'
import { drain } from './drain.ts'
import { type ForwardedRoute, forwardRequests } from './forwarding.ts'
import { live } from './lifecycle.ts'
import { openLogs } from './logs.ts'
import { listen, prepareBootstrap, type Started, startServices } from './start-services.ts'

/** The orders of the parent for one of its processes. */
export interface Orders {
  /** `daemons`, or the number of a worker. */
  name: string
  services: readonly string[]
  target: Target
  /** The URL of the listener that all workers share. */
  url: string
  /** The loopback port of the process with the daemons that run once; undefined without one. */
  daemonsPort: number | undefined
  /** The rate limiter is among those daemons. */
  countsInDaemons: boolean
  /** Shows that a request was forwarded by a worker. */
  secret: string
  /** One process writes the files with the tokens of the first accounts. */
  preparesBootstrap: boolean
}

/** The part of a process with daemons that the workers have to know. */
export interface DaemonsPart {
  routes: ForwardedRoute[]
  restartable: string[]
}

/** The report of a process that has started. */
export interface Ready extends DaemonsPart {
  tokenFiles: string[]
}

/**
 * Runs one of the processes of a server. It works until the parent tells it to stop or is gone; signals
 * are for the parent alone, because a terminal and a service manager send them to every process.
 */
export async function runPart(): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  const config = readConfig()
  let stop = () => {}
  let started: Started | undefined
  let daemons: DaemonsPart | undefined
  let take = (socket: Socket): unknown => socket.destroy()
  const draining = new AbortController()

  const parent = channel(process, {
    /** The load balancer takes this process out of its list, while it answers as before. */
    drain: () => draining.abort(),
    connection(_: undefined, socket?: Socket) {
      if (socket) take(socket)
    },
    stop: () => stop(),
    page: () => (started ? renderAll(started.services) : ''),
    restart: (service: string) => started?.restarts.get(service)?.(),
    daemons(part: DaemonsPart) {
      daemons = part
      const core = started?.core
      if (core) offerAll(core, part)
    },
  })
  const offerAll = (core: Started['core'], { restartable }: DaemonsPart) => {
    for (const service of restartable) {
      offerRestart(core, service, () => parent.ask('restart', service))
    }
  }

  await live({
    pauseMs: () => 0,
    stopBy(end) {
      stop = end
      process.on('disconnect', end)
    },
    failed: (problem) => parent.tell('failed', problem),
    async start(closers, stopping) {
      const orders = await parent.ask<Orders>('orders')
      const chosen = chooseDaemons(orders.services.join(','), 'the parent process')
      const isWorker = orders.name !== 'daemons'
      const settings = isWorker ? withCounters(config, orders) : config
      const logs = openLogs(chosen, settings, closers, orders.name)
      started = await startServices({
        config: settings,
        daemons: chosen,
        target: orders.target,
        closers,
        stopping: AbortSignal.any([stopping, draining.signal]),
        logs,
      })
      const { core, services, restarts } = started
      if (daemons) offerAll(core, daemons)
      const tokenFiles = orders.preparesBootstrap ? await prepareBootstrap(core) : []
      const routes: ForwardedRoute[] = []
      const app = await httpServer(core, services, {
        metricsOfAll: () => parent.ask('metrics'),
        eachRoute: (route) => routes.push(route),
      })
      stopping.throwIfAborted()
      if (isWorker) {
        const { daemonsPort: port, secret } = orders
        if (port !== undefined) {
          forwardRequests(app, core, { port, secret, routes: () => daemons?.routes })
        }
        const connections = await receiveConnections(app)
        take = connections.take
        closers.push(connections.drain)
      } else {
        acceptForwarded(app.server, orders.secret)
        closers.push(() => drain(app))
        await listen(app, '127.0.0.1', orders.daemonsPort ?? 0)
      }
      closers.push(startHeartbeat(core, services, orders.url, PROCESS).stop)
      const ready: Ready = { tokenFiles, routes, restartable: [...restarts.keys()] }
      parent.tell('ready', ready)
    },
  })
}

/** Messages are counted in the other process, unless Redis or another URL is configured. */
function withCounters(config: Config, { countsInDaemons, daemonsPort }: Orders): Config {
  const { REDIS_URL, RATE_LIMITER_URL } = config
  if (!countsInDaemons || REDIS_URL !== undefined || RATE_LIMITER_URL !== undefined) return config
  return { ...config, RATE_LIMITER_URL: `http://127.0.0.1:${daemonsPort}` }
}
