import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import type { Config } from '../config/index.ts'
import { defaultPort } from '../daemons/index.ts'
import type { Target } from '../database/database.ts'
import { mergeMetrics } from '../features/monitoring/merge-metrics.ts'
import { freePort } from '../lib/free-port.ts'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import { within } from '../lib/timeout.ts'
import { randomToken } from '../lib/tokens.ts'
import type { Log } from '../log.ts'
import { moduleUrl } from '../project.ts'
import { type Child, keepRunning } from './child.ts'
import { shareListener } from './connections.ts'
import type { Closers } from './lifecycle.ts'
import type { Orders, Ready } from './part.ts'
import type { Plan } from './plan.ts'
import { urlOf } from './url.ts'

const MAIN = fileURLToPath(moduleUrl('main'))
const PAGE_MS = 2000
const DAEMONS = 'daemons'

interface Needs {
  config: Config
  log: Log
  plan: Plan
  target: Target
  closers: Closers
  stopping: AbortSignal
}

/**
 * Starts the workers, which share one listener, and the process with the daemons that run once, and
 * keeps them running. This process itself answers no request.
 */
export async function startParts(needs: Needs) {
  const { config, log, plan, target, closers, stopping } = needs
  const { workers, web, once } = plan
  const daemonsPort = once.length === 0 ? undefined : await freePort()
  const secret = randomToken()
  let isFirst = true
  let isDraining = false
  let daemonsReady: Ready | undefined

  const ordersFor = (name: string): Orders => ({
    name,
    services: (name === DAEMONS ? once : web).map((daemon) => daemon.name),
    target,
    url,
    daemonsPort,
    countsInDaemons: once.some((daemon) => daemon.name === 'rate_limiter'),
    secret,
    preparesBootstrap: isFirst && name === '1',
  })
  const children: Child[] = []
  const workersOf = () => children.filter(({ name }) => name !== DAEMONS)
  const daemonsOf = () => children.find(({ name }) => name === DAEMONS)
  const place = { host: config.HOST, port: config.PORT ?? defaultPort(web) }
  const listener = await shareListener(place, workersOf)
  const url = urlOf(config.HOST, listener.port)

  const keep = (name: string) =>
    keepRunning(name, {
      log,
      launch: () => fork(MAIN, ['part', name]),
      orders: () => ordersFor(name),
      metrics,
      async restart(service) {
        const link = daemonsOf()?.link
        if (!link) throw new Error('the process with this service does not run')
        await link.ask('restart', service)
      },
      ready(link, report) {
        if (name === DAEMONS) {
          daemonsReady = report
          for (const worker of workersOf()) worker.link?.tell('daemons', report)
        } else if (daemonsReady) link.tell('daemons', daemonsReady)
        if (isDraining) link.tell('drain')
        listener.resume()
      },
      taken: () => listener.resume(),
    })

  const registry = new Registry()
  scrapedGauge(
    { registry, name: 'api_workers', help: 'Processes that answer requests' },
    () => workersOf().filter(({ link }) => link).length,
  )
  scrapedCounter(
    {
      registry,
      name: 'api_process_restarts_total',
      help: 'Processes of this server that ended unexpectedly and were started again',
      label: 'worker',
    },
    () => Object.fromEntries(children.map(({ name, restarts }) => [name, restarts])),
  )

  /** The pages of all processes that answer in time. */
  async function metrics(): Promise<string> {
    const pages = children.map(async ({ name, link }) => ({
      process: name,
      text: link ? await within(PAGE_MS, link.ask<string>('page')).catch(() => '') : '',
    }))
    const isLabelled = (process: string) => process !== DAEMONS
    const merged = mergeMetrics(await Promise.all(pages), { label: 'worker', isLabelled })
    return merged + (await registry.metrics())
  }

  /** Lets the load balancer know, then closes the listener before any worker closes a connection. */
  async function leave(ms: number): Promise<void> {
    if (ms > 0) {
      isDraining = true
      for (const { link } of workersOf()) link?.tell('drain')
      await sleep(ms)
    }
    await listener.refuse()
  }

  const names = Array.from({ length: workers }, (_, index) => String(index + 1))
  if (once.length > 0) children.push(keep(DAEMONS))
  children.push(...names.map(keep))
  closers.push(async () => {
    await leave(isFirst ? 0 : config.SVC_DRAIN_SECONDS * 1000)
    // The workers forward requests to the daemons until their last one is answered.
    await Promise.all(workersOf().map((worker) => worker.stop()))
    await daemonsOf()?.stop()
  })
  const interrupt = () => {
    for (const child of children) void child.stop()
  }
  stopping.addEventListener('abort', interrupt)
  const reports = await Promise.all(children.map(({ started }) => started))
  stopping.removeEventListener('abort', interrupt)
  isFirst = false
  return { url, tokenFiles: reports.flatMap(({ tokenFiles }) => tokenFiles) }
}
