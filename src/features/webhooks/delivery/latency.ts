import { histogram } from '../../../lib/histogram.ts'

const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600, 30_000]

/** From the change to the receiver's acceptance, retries and all. */
export function deliveryLatency() {
  const seconds = histogram(BOUNDS)
  return {
    accepted(event: { created_at: string }, at: Date) {
      seconds.observe(Math.max(0, (at.getTime() - Date.parse(event.created_at)) / 1000))
    },
    lines: () => seconds.lines('webhooks_delivery_latency_seconds'),
  }
}
