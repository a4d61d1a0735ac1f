import { sql } from 'kysely'
import { bulkRows } from '../database/bulk.ts'
import type { Tx } from '../database/database.ts'

/** Whom an event concerns, in the words of the envelope, and what its producer adds to it. */
export interface About {
  org_id: string | null
  domain?: string | null
  tags?: string[]
  user_variables?: object
  metadata?: object
  /** The one endpoint of the organization that gets it, whatever it asked for; absent: all. */
  endpoint_id?: string
}

/** Who listens; what nobody listens to is stored and waits for nothing. */
export interface Listeners {
  /** There is a global address. */
  queued: boolean
  /** Endpoints get what they registered for. */
  fannedOut: boolean
}

interface Stored {
  id: string
  lane: number
  name: string
  about: About
}

/** Lets an event wait for everybody who is to get it: one statement, however many those are. */
export async function enqueue(tx: Tx, event: Stored, { queued, fannedOut }: Listeners) {
  const { id, lane } = event
  if (fannedOut) await enqueueForAll(tx, event, queued)
  else if (queued) await tx.insertInto('webhook_queue').values({ event_id: id, lane }).execute()
}

/** Platform endpoints, which belong to nobody, get every event; the others their organization's. */
const enqueueForAll = (tx: Tx, { id, lane, name, about }: Stored, queued: boolean) => {
  const only = about.endpoint_id ?? null
  return sql`
    insert into webhook_queue (event_id, lane, subject, endpoint_id)
    select ${id}::text, ${lane}::smallint, null::smallint, null::text where ${queued}::boolean
    union all
    select ${id}::text, webhook_endpoint_lane(id), ${lane}::smallint, id
    from webhook_endpoints
    where active and (organization_id = ${about.org_id}::text or organization_id is null) and (
      id = ${only}::text
      or (organization_id is null or ${only}::text is null)
        and (event_types is null or event_types = '[]' or event_types ?| ${namesOf(name)}::text[]))
  `.execute(tx)
}

/** The same for many events, none of which is for one endpoint only. */
export async function enqueueMany(tx: Tx, events: Stored[], { queued, fannedOut }: Listeners) {
  if (!queued && !fannedOut) return
  const rows = events.map(({ id, lane, name, about }) => ({
    id,
    lane,
    org_id: about.org_id,
    names: namesOf(name),
  }))
  await sql`
    with stored as materialized (select * from ${bulkRows(STORED, rows)} as stored)
    insert into webhook_queue (event_id, lane, subject, endpoint_id)
    select id, lane, null, null from stored where ${queued}::boolean
    union all
    select stored.id, webhook_endpoint_lane(endpoint.id), stored.lane, endpoint.id
    from stored join webhook_endpoints endpoint
      on endpoint.organization_id = stored.org_id or endpoint.organization_id is null
    where ${fannedOut}::boolean and endpoint.active
      and (event_types is null or event_types = '[]'
        or event_types ?| array(select jsonb_array_elements_text(stored.names)))`.execute(tx)
}

const STORED = { id: 'text', lane: 'smallint', org_id: 'text', names: 'jsonb' } as const

/** What an endpoint may have written to get this event: `a.b.c`, `a.b.*`, `a.*` or `*`. */
function namesOf(name: string): string[] {
  const parts = name.split('.')
  const prefixes = parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`)
  return [name, '*', ...prefixes]
}
