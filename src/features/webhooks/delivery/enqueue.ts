import { sql } from 'kysely'
import { type Config, globalWebhookUrl } from '../../../config/index.ts'
import { bulkRows } from '../../../database/bulk.ts'
import type { Tx } from '../../../database/database.ts'
import type { EmittedEvent, EventListener } from '../../../events/events.ts'

/** Enqueues every emitted event for its receivers, in the transaction that emits it. */
export function webhookQueue(config: Config): EventListener {
  const hasGlobalUrl = globalWebhookUrl(config) !== undefined
  const fansOut = config.WEBHOOK_FANOUT
  return async (tx, emitted) => {
    if (hasGlobalUrl || fansOut) await enqueue(tx, emitted, { hasGlobalUrl, fansOut })
  }
}

const COLUMNS = {
  id: 'text',
  lane: 'smallint',
  org_id: 'text',
  endpoint_id: 'text',
  patterns: 'jsonb',
} as const

/**
 * One entry for the global URL and one for each endpoint that subscribed to the event. Endpoints of
 * the platform, which have no organization, receive the events of all organizations. An event for
 * one endpoint goes to that endpoint, and to those of the platform that subscribed to it.
 */
async function enqueue(
  tx: Tx,
  emitted: readonly EmittedEvent[],
  { hasGlobalUrl, fansOut }: { hasGlobalUrl: boolean; fansOut: boolean },
): Promise<void> {
  const rows = emitted.map((event) => ({
    id: event.id,
    lane: laneOf(event),
    org_id: event.about.org_id,
    endpoint_id: event.about.endpoint_id ?? null,
    patterns: patternsOf(event.type.name),
  }))
  await sql`
    with emitted as materialized (select * from ${bulkRows(COLUMNS, rows)} as emitted)
    insert into webhook_queue (event_id, lane, subject, endpoint_id)
    select id, lane, null, null from emitted where ${hasGlobalUrl}::boolean
    union all
    select emitted.id, webhook_endpoint_lane(endpoint.id), emitted.lane, endpoint.id
    from emitted join webhook_endpoints endpoint
      on endpoint.organization_id = emitted.org_id or endpoint.organization_id is null
    where ${fansOut}::boolean and endpoint.active and (
      endpoint.id = emitted.endpoint_id
      or (emitted.endpoint_id is null or endpoint.organization_id is null)
        and (event_types is null or event_types = '[]'
          or event_types ?| array(select jsonb_array_elements_text(emitted.patterns))))`.execute(tx)
}

const LANES = 64

/**
 * Events about one thing share a lane, which keeps them in order. The first field of the data names
 * the thing; the hash is FNV-1a.
 */
function laneOf({ about, data }: EmittedEvent): number {
  const [subject] = Object.values(data)
  const text = `${about.org_id} ${typeof subject === 'string' ? subject : ''}`
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % LANES
}

/** The `event_types` that match an event: `a.b.c`, `a.b.*`, `a.*` and `*`. */
function patternsOf(name: string): string[] {
  const parts = name.split('.')
  const prefixes = parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`)
  return [name, '*', ...prefixes]
}
