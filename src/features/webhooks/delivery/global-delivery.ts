import type { Core } from '../../../core.ts'
import { poster } from '../../../outbound/post.ts'
import type { Attempt } from './attempt.ts'
import type { Lease } from './lease.ts'
import * as queue from './queue.repository.ts'
import { workingSet } from './working-set.ts'

const FETCH = 500

interface Needs extends Pick<Core, 'config' | 'now' | 'byIndex'> {
  attempt: Attempt
  lease: Lease
}

/** Everything to the one address of the installation, which its operator chose. */
export function globalDelivery({ config, now, byIndex, attempt, lease }: Needs, url: string) {
  const http = poster({
    timeoutSeconds: config.WEBHOOK_TIMEOUT,
    connections: config.WEBHOOK_WORKERS,
  })
  const secrets = [config.WEBHOOK_SECRET]
  const waiting = workingSet(config.WEBHOOK_WORKERS, async (job, answered) => {
    if (!lease.mayStart()) return
    const organizationId = job.event.org_id
    await attempt(job, { endpointId: null, organizationId, url, secrets }, http, answered)
  })

  return {
    /** Only as much as fits: what does not, waits in the database. */
    async fetch(): Promise<void> {
      const room = config.WEBHOOK_QUEUE_SIZE - waiting.size
      if (lease.lanes.length === 0 || room <= 0 || waiting.isBusy) return
      const limit = waiting.size + Math.min(room, FETCH)
      const first = await queue.firstIds(byIndex, { lanes: lease.lanes, limit })
      const retries = await queue.dueRetryIds(byIndex, { lanes: lease.lanes, now: now(), limit })
      const ids = [...first, ...retries].map(({ id }) => id).filter((id) => !waiting.has(id))
      if (ids.length === 0) return
      const jobs = await queue.load(byIndex, ids, now())
      waiting.add(jobs.filter(({ lane }) => lease.owns(lane)))
    },
    onRoom: waiting.onRoom,
    busyLanes: waiting.busyLanes,
    keepOnly: waiting.keepOnly,
    idle: waiting.idle,
    close: http.close,
  }
}
