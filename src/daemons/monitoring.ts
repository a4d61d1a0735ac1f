import { hostname } from 'node:os'
import type { Core } from '../core.ts'
import { backupGauges } from '../features/monitoring/backup-gauges.ts'
import { expositionRoutes } from '../features/monitoring/exposition.ts'
import { checkHost } from '../features/monitoring/host/host-check.ts'
import { hostReader } from '../features/monitoring/host/readings.ts'
import { answersNow } from '../features/monitoring/probes/targets.ts'
import { heal } from '../features/monitoring/restarts/auto-heal.ts'
import { restarter } from '../features/monitoring/restarts/restarts.ts'
import { takeSamples } from '../features/monitoring/samples/sampler.ts'
import { freshStates } from '../features/monitoring/states.repository.ts'
import { sweep } from '../features/monitoring/sweep.ts'
import { channelSender } from '../features/platform/alerts/delivery/channel-sender.ts'
import { dispatcher } from '../features/platform/alerts/delivery/dispatcher.ts'
import { evaluator } from '../features/platform/alerts/evaluation/evaluator.ts'
import { takeJob } from '../jobs/jobs.ts'
import { periodically } from '../lib/periodically.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'
import { restartsOf } from './restarts.ts'

const LOOK_MS = 1000
const CPU_MS = 25_000
// Shorter than a minute, so that a late check still gives every minute a sample.
const SAMPLE_SECONDS = 55

/**
 * Monitors services and hosts, stores samples and evaluates alerts. Each kind of work is claimed by
 * moving its timestamp, so only one of several processes does it.
 */
export const monitoring: Daemon = {
  async start(core) {
    const { config, db, log } = core
    const readHost = hostReader(config.DATA_DIR, CPU_MS)
    const restarting = restarter({ ...core, restarts: restartsOf(core) })
    const rules = evaluator(core)
    const sender = channelSender(core)
    const notifications = dispatcher({ ...core, sender })
    const jobs = await runFeatureWork(core, 'monitoring')

    async function evaluate(): Promise<void> {
      await rules.run()
      await notifications.sendDue()
    }

    const work = [
      taken('sweep', config.MONITORING_SWEEP_SECONDS, async () => {
        // Evaluate alerts at once after a change.
        if ((await sweep(core)) > 0) await evaluate()
        if (!config.MONITORING_AUTO_HEAL) return
        const states = await freshStates(db, config, core.now())
        await heal(restarting, states, undefined, {
          dryRun: false,
          automatic: true,
          answersNow: (name) => answersNow(core, name),
        })
      }),
      taken(`host ${hostname()}`, config.MONITORING_HOST_SECONDS, async () =>
        checkHost(core, await readHost()),
      ),
      taken('samples', SAMPLE_SECONDS, () => takeSamples(core)),
      taken('alerts', config.ALERT_EVAL_INTERVAL_SECONDS, evaluate),
      // Every process sends notifications; each notification is claimed once.
      periodically(
        LOOK_MS,
        async () => void (await notifications.sendDue()),
        complain('notifications'),
      ),
    ]

    function taken(what: string, everySeconds: number, run: () => Promise<unknown>) {
      const job = { name: `monitoring.${what}`, everySeconds, run }
      const look = async () => {
        if (!isOver && (await takeJob(db, job))) await run()
      }
      return periodically(LOOK_MS, look, complain(what))
    }
    function complain(what: string) {
      return (error: unknown) => log.error({ err: error, work: what }, 'monitoring task failed')
    }

    let isOver = false
    return {
      features: monitoringFeatures(core),
      metrics: () => backupGauges(core),
      async stop() {
        isOver = true
        await Promise.all(work.map((one) => one.stop()))
        await notifications.settle()
        await sender.close()
        await jobs.stop()
      },
    }
  },
}

const monitoringFeatures = (core: Core) =>
  core.config.SVC_EDITION === 'enterprise' ? [{ prefix: '', routes: expositionRoutes(core) }] : []
