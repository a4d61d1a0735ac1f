import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { poster } from '../../../outbound/post.ts'
import { ENDPOINT_SECRET } from '../endpoints/endpoints.rules.ts'
import type { Target } from './attempt.ts'
import * as queue from './queue.repository.ts'
import type { Limits, WorkingSet } from './working-set.ts'

const GLOBAL_CAPACITY = 500
const ENDPOINT_CAPACITY = 64
const MAX_DELETED = 1000

type Needs = Pick<Core, 'config' | 'now' | 'outbound' | 'vault'>

/** Entries that are due, for the receivers that run low. */
interface Due {
  ids: number[]
  /** Receivers that may have more entries than these. */
  mayHaveMore: ReadonlySet<string | null>
  /** The source has more work and is to be read again at once. */
  isPartial: boolean
}

/** A part of the queue: the entries for the global URL, or those for endpoints. */
export interface Source {
  limits: Limits
  http: ReturnType<typeof poster>
  findDue(tx: Tx, lanes: readonly number[], jobs: WorkingSet): Promise<Due>
  /** undefined: the endpoint is deleted or inactive. */
  targetOf(job: queue.Job): Target | undefined
}

/** The URL that receives every event. The operator chose it, so any address is called. */
export function globalUrlSource({ config, now }: Needs, url: string): Source {
  const workers = config.WEBHOOK_WORKERS
  const capacity = Math.min(config.WEBHOOK_QUEUE_SIZE, Math.max(GLOBAL_CAPACITY, 10 * workers))
  const secrets = [config.WEBHOOK_SECRET]
  return {
    limits: { workers, slowWorkers: workers, perReceiver: workers },
    http: poster({ timeoutSeconds: config.WEBHOOK_TIMEOUT, connections: workers }),
    targetOf: ({ event }) => ({ organizationId: event.org_id, url, secrets }),
    async findDue(tx, lanes, jobs) {
      jobs.capacity = capacity
      const ids = jobs.isFull(null)
        ? []
        : await queue.findDueForGlobalUrl(tx, { lanes, now: now(), limit: capacity })
      const mayHaveMore = new Set(ids.length >= capacity ? [null] : [])
      return { ids, mayHaveMore, isPartial: false }
    },
  }
}

/** The endpoints that organizations and the platform registered. */
export function endpointSource({ config, now, outbound, vault }: Needs): Source {
  const workers = config.WEBHOOK_ENDPOINT_WORKERS
  let endpoints = new Map<string, queue.ActiveEndpoint>()

  return {
    limits: {
      workers,
      slowWorkers: Math.max(1, Math.floor(workers / 2)),
      perReceiver: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    },
    http: poster({ timeoutSeconds: config.WEBHOOK_TIMEOUT, guard: outbound }),
    targetOf({ endpointId }) {
      const endpoint = endpoints.get(endpointId ?? '')
      return endpoint && targetOfEndpoint(endpoint, vault, now())
    },
    async findDue(tx, lanes, jobs) {
      const held = jobs.receivers.filter((id) => id !== null)
      const ids = [...new Set([...held, ...(await queue.findWaitingEndpoints(tx, lanes))])]
      // Read each time: a changed URL or secret holds from the next attempt on.
      const active = await queue.findActiveEndpoints(tx, ids)
      endpoints = new Map(active.map((endpoint) => [endpoint.id, endpoint]))
      const gone = ids.filter((id) => !endpoints.has(id))
      jobs.forgetEndpoints(gone)
      const deleted = await queue.deleteUndeliverable(tx, gone, MAX_DELETED)
      // The more endpoints wait, the fewer jobs are held for each.
      const share = Math.floor(config.WEBHOOK_QUEUE_SIZE / Math.max(1, endpoints.size))
      jobs.capacity = Math.max(1, Math.min(ENDPOINT_CAPACITY, share))
      const endpointIds = [...endpoints.keys()].filter((id) => !jobs.isFull(id))
      const limit = jobs.capacity
      const entries = await queue.findDueForEndpoints(tx, { endpointIds, now: now(), limit })
      return {
        ids: entries.map(({ id }) => id),
        mayHaveMore: endpointsWith(entries, limit),
        isPartial: deleted >= MAX_DELETED,
      }
    },
  }
}

/** While a secret is rotated, the previous one signs too. */
function targetOfEndpoint(endpoint: queue.ActiveEndpoint, vault: Core['vault'], now: Date): Target {
  const { organization_id, url, secret, previous_secret, previous_secret_until } = endpoint
  const open = (sealed: Uint8Array) => vault.open(ENDPOINT_SECRET, Buffer.from(sealed))
  const overlaps =
    previous_secret_until !== null && Date.parse(previous_secret_until) > now.getTime()
  return {
    organizationId: organization_id,
    url,
    secrets: [open(secret), ...(previous_secret && overlaps ? [open(previous_secret)] : [])],
  }
}

function endpointsWith(entries: { endpoint_id: string }[], count: number): Set<string> {
  const counts = new Map<string, number>()
  for (const { endpoint_id } of entries) {
    counts.set(endpoint_id, (counts.get(endpoint_id) ?? 0) + 1)
  }
  return new Set([...counts.keys()].filter((id) => (counts.get(id) ?? 0) >= count))
}
