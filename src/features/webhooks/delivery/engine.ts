import { globalWebhookUrl } from '../../../config.ts'
import type { Core } from '../../../core.ts'
import { attempts } from './attempt.ts'
import { fanOut } from './fan-out.ts'
import { globalDelivery } from './global-delivery.ts'
import { laneLease } from './lease.ts'
import { outcomeWriter } from './outcome-writer.ts'
import { singleFile } from './single-file.ts'

const POLL_MS = 1000

type Needs = Pick<
  Core,
  'config' | 'db' | 'listen' | 'log' | 'now' | 'outbound' | 'byIndex' | 'vault'
>

export type DeliveryEngine = Awaited<ReturnType<typeof startDelivery>>

/**
 * Sends what waits in the queue until told to stop: to the global address, and to the endpoints when
 * they are fanned out to. The two share the lanes and the writing of outcomes and nothing else, so
 * neither waits for the other.
 */
export async function startDelivery(core: Needs) {
  const { config, db, listen, log, byIndex } = core
  const url = globalWebhookUrl(config)
  const writer = outcomeWriter(byIndex, log)
  const { counts, latency, make: attempt } = attempts({ ...core, writer })
  const lease = laneLease({
    db,
    timeoutSeconds: config.WEBHOOK_TIMEOUT,
    busy: () => parts.flatMap((part) => part.busyLanes()),
    changed(owned) {
      for (const part of parts) part.keepOnly(owned)
    },
  })
  const needs = { ...core, attempt, lease }
  const parts = [
    ...(url === undefined ? [] : [globalDelivery(needs, url)]),
    ...(config.WEBHOOK_FANOUT ? [fanOut(needs)] : []),
  ]
  let stopping = false

  const rounds = parts.map((part) => {
    const round = singleFile(async () => {
      if (stopping) return
      try {
        await lease.renewWhenDue()
        if (!stopping) await part.fetch()
      } catch (error) {
        log.warn({ err: error }, 'the webhook queue could not be read')
      }
    })
    part.onRoom(round)
    return round
  })
  const look = () => {
    for (const round of rounds) round()
  }
  const feed = await listen('mailplane_webhooks', { message: look, subscribed: look })
  const timer = setInterval(look, POLL_MS)

  return {
    counts,
    latency,
    /** Waits for attempts under way and gives the lanes back; what is left others will send. */
    async stop() {
      stopping = true
      clearInterval(timer)
      await Promise.all(rounds.map((round) => round.idle()))
      await Promise.all(parts.map((part) => part.idle()))
      await writer.close()
      await feed.close()
      await lease.release()
      for (const part of parts) part.close()
    },
  }
}
