import { contentFilter } from '../content/filter.ts'
import { filterServer } from '../content/server.ts'
import type { Stage } from '../content/stage.ts'
import type { Core } from '../core.ts'
import { startSenders } from '../features/rate-limiter/senders.ts'
import { periodically } from '../lib/periodically.ts'
import { handOver } from '../mail/handover.ts'
import { originKey } from '../mail/origin.ts'
import { listenAt } from '../policy/listener.ts'
import { contentStages } from './content-stages.ts'
import type { Daemon } from './daemon.ts'

const DEFAULT_PORT = 10025
const LOOK_MS = 1000

/** Sees every message between the two doors of Postfix. */
export const contentFilterDaemon = {
  start: (core: Core) => startContentFilter(core, contentStages(core)),
} satisfies Daemon

export async function startContentFilter(core: Core, stages: readonly Stage[]) {
  const { config, log } = core
  const senders = await startSenders(core)
  const counts = { accepted: 0, refused: 0, deferred: 0 }
  const filter = contentFilter({
    stages,
    senders,
    handOver: handOver(config),
    hostname: config.SVC_MAIL_HOSTNAME,
    originKey: originKey(core.vault),
    now: core.now,
    log,
  })

  /** A server on the port that is set now: a private edge may come up later, on a port it chose. */
  async function open() {
    const port = config.CONTENT_FILTER_PORT
    const smtp = filterServer({
      workers: config.CONTENT_FILTER_WORKERS,
      hostname: config.SVC_MAIL_HOSTNAME,
      log,
      async filter(arrived) {
        const answer = await filter(arrived)
        if (answer.code < 400) counts.accepted++
        else if (answer.code < 500) counts.deferred++
        else counts.refused++
        return answer
      },
    })
    const place = {
      host: config.CONTENT_FILTER_HOST,
      port,
      fallback: DEFAULT_PORT,
      variable: 'CONTENT_FILTER_PORT',
    }
    const listener = await listenAt(smtp.server.server, place, log)
    return {
      port,
      listener,
      async close() {
        listener.stop()
        await smtp.stop()
      },
    }
  }

  let opened = await open().catch(async (error) => {
    await senders.close()
    throw error
  })
  const looking = periodically(
    LOOK_MS,
    async () => {
      if (config.CONTENT_FILTER_PORT === opened.port) return
      const before = opened
      opened = await open()
      await before.close()
    },
    (error) => log.error({ err: error, alert: true }, 'the content filter cannot listen'),
  )

  return {
    features: [],
    /** Where it listens; undefined while the port is taken. */
    get filterPort() {
      return opened.listener.port
    },
    metrics: () =>
      [
        '# TYPE content_filter_messages_total counter',
        ...Object.entries(counts).map(
          ([answer, count]) => `content_filter_messages_total{answer="${answer}"} ${count}`,
        ),
      ].join('\n'),
    async stop() {
      await looking.stop()
      await opened.close()
      for (const stage of stages) await stage.stop?.()
      await senders.close()
    },
  }
}
