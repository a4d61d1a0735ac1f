import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../../core.ts'
import { poster } from '../../../outbound/post.ts'
import { ENDPOINT_SECRET } from '../endpoints/endpoint-secret.ts'
import type { Attempt, Target } from './attempt.ts'
import * as endpointQueue from './endpoint-queue.repository.ts'
import { endpointSet } from './endpoint-set.ts'
import type { Lease } from './lease.ts'
import { load } from './queue.repository.ts'
import { sweeper } from './sweeper.ts'

const MOST_HELD = 64
const DELETED_AT_ONCE = 1000
const LONGEST_PAUSE_MS = 250

interface Needs extends Pick<Core, 'config' | 'db' | 'now' | 'outbound' | 'byIndex' | 'vault'> {
  attempt: Attempt
  lease: Lease
}

/** Events to the endpoints that organizations and the platform registered. */
export function fanOut(needs: Needs) {
  const { config, db, now, outbound, byIndex, vault, attempt, lease } = needs
  const timeoutSeconds = config.WEBHOOK_TIMEOUT
  const http = poster({ timeoutSeconds, guard: outbound })
  const perEndpoint = config.WEBHOOK_ENDPOINT_CONCURRENCY
  let endpoints = new Map<string, endpointQueue.ActiveEndpoint>()
  const first = sweeper((sweep) => endpointQueue.sweepFirst(byIndex, sweep))
  const retries = sweeper((sweep) => endpointQueue.sweepRetries(byIndex, sweep, now()))
  let tellRoom = () => {}

  const waiting = endpointSet(
    {
      workers: config.WEBHOOK_ENDPOINT_WORKERS,
      perEndpoint,
      slowMs: (timeoutSeconds * 1000) / 3,
    },
    async (job) => {
      const endpoint = endpoints.get(job.endpointId ?? '')
      if (endpoint && lease.mayStart()) await attempt(job, targetOf(endpoint), http)
    },
  )

  /** As it stands now: a secret that was changed signs from the next attempt on. */
  function targetOf(endpoint: endpointQueue.ActiveEndpoint): Target {
    const { previous_secret, previous_secret_until } = endpoint
    const open = (sealed: Uint8Array) => vault.open(ENDPOINT_SECRET, Buffer.from(sealed))
    const overlaps = previous_secret_until !== null && Date.parse(previous_secret_until) > +now()
    return {
      endpointId: endpoint.id,
      organizationId: endpoint.organization_id,
      url: endpoint.url,
      secrets: [
        open(endpoint.secret),
        ...(previous_secret && overlaps ? [open(previous_secret)] : []),
      ],
    }
  }

  /** The more endpoints there are, the less is held for each; the rest waits in the database. */
  const entriesEach = () => {
    const share = Math.floor(config.WEBHOOK_QUEUE_SIZE / (endpoints.size + 1))
    return Math.max(perEndpoint, Math.min(MOST_HELD, share))
  }

  async function fetch(): Promise<void> {
    if (lease.lanes.length === 0) return
    const began = Date.now()
    const entries = entriesEach()
    const full = waiting.full(Math.ceil(entries / 2))
    const found = [
      ...(await first.next(lease.lanes, entries, full)),
      ...(await retries.next(lease.lanes, entries, full)),
    ]
    const named = [...new Set([...waiting.endpoints, ...found.map((one) => one.endpoint_id)])]
    const active = named.length === 0 ? [] : await endpointQueue.findActive(db, named)
    endpoints = new Map(active.map((endpoint) => [endpoint.id, endpoint]))
    await forget(named.filter((id) => !endpoints.has(id)))
    await hold(found, entries)
    if (first.isPartial || retries.isPartial) tellRoom()
    // However long the list of endpoints grows, half of the time is the database's own.
    await sleep(Math.min(Date.now() - began, LONGEST_PAUSE_MS))
  }

  async function forget(unwanted: string[]): Promise<void> {
    if (unwanted.length === 0) return
    waiting.drop(unwanted)
    const deleted = await endpointQueue.deleteUnwanted(byIndex, unwanted, DELETED_AT_ONCE)
    if (deleted >= DELETED_AT_ONCE) tellRoom()
  }

  async function hold(found: endpointQueue.Waiting[], entries: number): Promise<void> {
    const counts = new Map<string, number>()
    const ids: number[] = []
    for (const { id, endpoint_id } of found) {
      if (id === null || !endpoints.has(endpoint_id)) continue
      counts.set(endpoint_id, (counts.get(endpoint_id) ?? 0) + 1)
      if (!waiting.has(id)) ids.push(id)
    }
    if (ids.length === 0) return
    const cutOff = [...counts].filter(([, count]) => count >= entries).map(([id]) => id)
    const jobs = await load(byIndex, ids, now())
    waiting.add(
      jobs.filter(({ lane }) => lease.owns(lane)),
      new Set(cutOff),
    )
  }

  return {
    fetch,
    onRoom(tell: () => void) {
      tellRoom = tell
      waiting.onRoom(tell)
    },
    busyLanes: waiting.busyLanes,
    keepOnly: waiting.keepOnly,
    idle: waiting.idle,
    close: http.close,
  }
}
