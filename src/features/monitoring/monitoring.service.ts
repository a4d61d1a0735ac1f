import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { levels } from './host/host.repository.ts'
import { hostReader } from './host/readings.ts'
import { mailFigures } from './mail-figures.ts'
import * as errors from './monitoring.errors.ts'
import { answersNow } from './probes/targets.ts'
import { heal } from './restarts/auto-heal.ts'
import { type Restarts, restarter } from './restarts/restarts.ts'
import { freshStates, type ServiceState } from './states.repository.ts'
import { type PayloadType, webhookTest, withoutLogin } from './webhook-test.ts'

export type MonitoringService = ReturnType<typeof monitoringService>

export function monitoringService(core: Core, restarts: Restarts) {
  const { change, config, db, now } = core
  const restarting = restarter({ ...core, restarts })
  const readHost = hostReader(config.DATA_DIR)
  const figures = mailFigures(core)
  const hooks = webhookTest(core)
  const timestamp = () => now().toISOString()

  async function states(more: object = {}): Promise<ServiceState[]> {
    const found = await freshStates(db, config, now())
    if (found.length > 0) return found
    const why =
      'The monitoring service has not looked lately; run the daemon monitoring, or see its log'
    throw new errors.MonitoringSilent(why, now(), more)
  }

  async function known(name: string): Promise<ServiceState> {
    const all = await states()
    const found = all.find((state) => state.name === name)
    if (found) return found
    const names = all.map((state) => state.name).join(', ')
    throw new errors.UnknownService(`Unknown service ${name}; there are: ${names}`, now())
  }

  const isAnswering = (name: string) => answersNow(core, name)

  /** Stores the operator's action together with its audit row. */
  const storeFor = (caller: Caller) => (work: (tx: Tx) => Promise<void>) => change(caller, work)

  return {
    async health() {
      const found = await states({ status: 'unhealthy' })
      return {
        status: 'healthy' as const,
        monitoring_service: {
          status: 'healthy' as const,
          services_monitored: found.length,
          last_sweep_at:
            found
              .map(({ checked_at }) => checked_at)
              .sort()
              .at(-1) ?? timestamp(),
          sweep_interval_seconds: config.MONITORING_SWEEP_SECONDS,
        },
        timestamp: timestamp(),
      }
    },

    async services() {
      const found = await states()
      const bad = found.filter(({ status }) => status !== 'up')
      const critical = bad.filter((state) => state.critical).map(({ name }) => name)
      const warnings = bad.filter((state) => !state.critical).map(({ name }) => name)
      const overall = critical.length > 0 ? 'critical' : 'degraded'
      return {
        overall_status: bad.length === 0 ? ('healthy' as const) : (overall as 'critical'),
        services: Object.fromEntries(found.map((state) => [state.name, shown(state)])),
        critical_services_down: critical,
        services_with_warnings: warnings,
        total_services: found.length,
        healthy_services: found.length - bad.length,
        timestamp: timestamp(),
      }
    },

    async service(name: string) {
      return { name, ...shown(await known(name)) }
    },

    async metrics() {
      const [system, mail] = await Promise.all([readHost(), figures.traffic()])
      return { system, mail, timestamp: timestamp() }
    },

    async stats() {
      const [system, traffic, users, found, hosts] = await Promise.all([
        readHost(),
        figures.traffic(),
        figures.users(),
        freshStates(db, config, now()),
        levels(db),
      ])
      const healthy = found.filter(({ status }) => status === 'up').length
      return {
        system,
        mail: { ...traffic, ...users },
        services: { total: found.length, healthy, down: found.length - healthy },
        hosts,
        timestamp: timestamp(),
      }
    },

    async restart(caller: Caller, name: string, given: { force?: boolean; reason?: string }) {
      await known(name)
      const { force = false, reason } = given
      const outcome = await restarting.restart(name, {
        automatic: false,
        force,
        reason,
        store: storeFor(caller),
      })
      const more = { service: name, action: 'restart', status: 'failed' }
      switch (outcome.kind) {
        case 'impossible':
          throw new errors.NotRestartable(outcome.why, now(), more)
        case 'too-often': {
          const seconds = outcome.retryAfter
          const why = `${name} was restarted three times within 300 seconds; try again in ${seconds} seconds, or with force`
          throw new errors.NotRestartable(why, now(), { ...more, retry_after: seconds })
        }
        case 'failed':
          throw new errors.RestartFailed(outcome.error, now(), more)
        case 'restarted':
          return {
            service: name,
            action: 'restart' as const,
            status: 'success' as const,
            message: `${name} was restarted`,
            timestamp: timestamp(),
          }
      }
    },

    async autoHeal(caller: Caller, given: { services?: string[]; dry_run?: boolean }) {
      const { services: wanted, dry_run: dryRun = false } = given
      const found = await states()
      for (const name of wanted ?? []) await known(name)
      const store = storeFor(caller)
      const options = { dryRun, automatic: false, store, answersNow: isAnswering }
      const actions_taken = await heal(restarting, found, wanted, options)
      const status = 'completed' as const
      return { status, dry_run: dryRun, actions_taken, timestamp: timestamp() }
    },

    async testWebhooks(given: { webhook_urls?: string[]; payload_type?: PayloadType }) {
      const { webhook_urls: wanted, payload_type = 'ping' } = given
      const configured = await hooks.configured()
      const isNamed = (url: string) => (hook: { url: string }) =>
        hook.url === url || withoutLogin(hook.url) === url
      const stray = wanted?.find((url) => !configured.some(isNamed(url)))
      if (stray !== undefined) {
        const why = `${stray} is not configured: only WEBHOOK_URL and enabled alert channels are called`
        throw new errors.UrlNotConfigured(why, now())
      }
      const chosen = wanted
        ? configured.filter((hook) => wanted.some((url) => isNamed(url)(hook)))
        : configured
      const results = await Promise.all(chosen.map((hook) => hooks.post(hook, payload_type)))
      return { status: 'completed' as const, payload_type, results, timestamp: timestamp() }
    },
  }
}

const shown = ({ name: _name, checked_at, changed_at, ...state }: ServiceState) => ({
  ...state,
  since: changed_at,
  timestamp: checked_at,
})
