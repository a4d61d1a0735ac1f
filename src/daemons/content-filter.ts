import { Counter, Registry } from 'prom-client'
import { authorStage } from '../content/author.stage.ts'
import { contentFilter } from '../content/filter.ts'
import { listMailStage } from '../content/list-mail.stage.ts'
import { filterServer } from '../content/server.ts'
import type { Stage } from '../content/stage.ts'
import type { Core } from '../core.ts'
import { encryptDelivery } from '../features/encryption/delivery/encrypt-delivery.ts'
import { contentStages } from '../features/index.ts'
import { recounter } from '../features/rate-limiter/recount.ts'
import { startSenders } from '../hosting/senders.ts'
import { handOver } from '../mail/handover.ts'
import { originKey } from '../mail/origin.ts'
import { listenAt } from '../policy/listener.ts'
import type { Daemon } from './daemon.ts'

const DEFAULT_PORT = 10025
const RETRY_MS = 1000

/** Filters every message between the two SMTP listeners of Postfix. */
export const contentFilterDaemon = {
  start: async (core: Core) => startContentFilter(core, await contentStages(core)),
} satisfies Daemon

export async function startContentFilter(core: Core, stages: readonly Stage[]) {
  const { config, log } = core
  const senders = await startSenders(core)
  const registry = new Registry()
  const messages = new Counter({
    name: 'content_filter_messages_total',
    help: 'Messages that this process has answered',
    labelNames: ['answer'],
    registers: [registry],
  })
  for (const answer of ['accepted', 'refused', 'deferred']) messages.inc({ answer }, 0)
  const filter = contentFilter({
    stages: [authorStage({ ...core, senders }), listMailStage({ ...core, senders }), ...stages],
    senders,
    db: core.db,
    recount: recounter(core, senders),
    encrypt: encryptDelivery(core),
    handOver: handOver(core.mailServers),
    hostname: config.SVC_MAIL_HOSTNAME,
    originKey: originKey(core.vault),
    now: core.now,
    log,
  })

  /** Listens on the current port; a private edge may start later and choose another one. */
  async function open() {
    const { CONTENT_FILTER_PORT: port } = core.mailServers.current()
    const smtp = filterServer({
      workers: config.CONTENT_FILTER_WORKERS,
      hostname: config.SVC_MAIL_HOSTNAME,
      log,
      async filter(received) {
        const answer = await filter(received)
        if (answer.code < 400) messages.inc({ answer: 'accepted' })
        else if (answer.code < 500) messages.inc({ answer: 'deferred' })
        else messages.inc({ answer: 'refused' })
        return answer
      },
    })
    const place = {
      host: config.CONTENT_FILTER_HOST,
      port,
      fallback: DEFAULT_PORT,
      variable: 'CONTENT_FILTER_PORT',
      isSet: Boolean(config.mailServers.CONTENT_FILTER_PORT),
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
  async function move() {
    if (core.mailServers.current().CONTENT_FILTER_PORT === opened.port) return
    const before = opened
    opened = await open()
    await before.close()
  }
  let moving = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  function follow() {
    clearTimeout(retry)
    moving = moving.then(move).catch((error) => {
      log.error({ err: error, alert: true }, 'the content filter cannot listen')
      retry = setTimeout(follow, RETRY_MS)
      retry.unref()
    })
  }
  const removeListener = core.mailServers.onChange(follow)

  return {
    features: [],
    /** The port it listens on; undefined while another process has it. */
    get filterPort() {
      return opened.listener.port
    },
    metrics: () => registry.metrics(),
    async stop() {
      removeListener()
      clearTimeout(retry)
      await moving
      clearTimeout(retry)
      await opened.close()
      for (const stage of stages) await stage.stop?.()
      await senders.close()
    },
  }
}
