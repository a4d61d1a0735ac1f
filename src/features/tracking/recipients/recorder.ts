import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { type Occurrence, occurrence } from '../../../events/events.ts'
import { networkOf } from '../../../lib/ip.ts'
import { ulid } from '../../../lib/ulid.ts'
import { writeBehind } from '../../../lib/write-behind.ts'
import { storeEvents } from '../store-events.ts'
import * as tracked from '../tracked.repository.ts'
import { messageIdOf, TrackingClick, TrackingOpen } from '../tracking.events.ts'
import type { NewTrackingEvent } from '../tracking-events.repository.ts'
import { places } from './places.ts'
import { deviceOf } from './visitor.ts'

/** Faster than a person can react: the visitor is a scanner. */
const TOO_SOON_MS = 2000

/** A visit to a public route whose id has not been looked up yet. */
export interface Seen {
  type: 'opened' | 'clicked'
  copy: string
  url: string | null
  query: Record<string, unknown> | null
  ip: string
  userAgent: string | null
  referer: string | null
  language: string | null
  automated: string | undefined
  at: Date
}

type Needs = Pick<Core, 'config' | 'db' | 'events' | 'log'>

type Recorder = ReturnType<typeof recorder>

// One recorder per process, shared by the daemons that receive visits.
const known = new WeakMap<Db, Recorder>()

export function recorderOf(core: Needs): Recorder {
  let found = known.get(core.db)
  if (!found) {
    found = recorder(core)
    known.set(core.db, found)
  }
  return found
}

/** Stores pending visits, if there was a recorder at all. */
export const closeRecorder = async ({ db }: Pick<Core, 'db'>): Promise<void> =>
  known.get(db)?.stop()

/** Stores opens and clicks behind the answers. */
function recorder({ config, db, events, log }: Needs) {
  const placeOf = places({ config, log })
  const stored = { recorded: 0, unknown: 0 }
  const queue = writeBehind<Seen>({ log, name: 'tracking events', batch: 1000, store })

  async function store(batch: Seen[]): Promise<void> {
    const ids = [...new Set(batch.map(({ copy }) => copy))]
    const found = await tracked.findCopies(db, ids)
    const copies = new Map(found.map((copy) => [copy.id, copy]))
    const rows = batch.flatMap((seen) => {
      const copy = copies.get(seen.copy)
      return copy ? [rowOf(seen, copy)] : []
    })
    await db.transaction().execute(async (tx) => {
      await storeEvents(tx, rows)
      await events.emitMany(tx, rows.filter(({ automated }) => !automated).map(occurrenceOf))
    })
    stored.recorded += rows.length
    stored.unknown += batch.length - rows.length
  }

  function rowOf(seen: Seen, copy: tracked.TrackedCopy): NewTrackingEvent {
    const soon = copy.sent_at !== null && seen.at.getTime() - Date.parse(copy.sent_at) < TOO_SOON_MS
    const reason = seen.automated ?? (soon ? 'too_soon' : undefined)
    return {
      id: ulid(seen.at.getTime()),
      organization_id: copy.organization_id,
      domain_id: copy.domain_id,
      domain: copy.domain,
      tracking_id: copy.id,
      email_id: copy.email_id,
      recipient: copy.recipient,
      event_type: seen.type,
      automated: reason !== undefined,
      automated_reason: reason ?? null,
      url: seen.url,
      user_agent: seen.userAgent,
      ip_address: config.TRACKING_ANONYMIZE_IP ? networkOf(seen.ip) : seen.ip,
      referer: seen.referer,
      accept_language: seen.language,
      ...deviceOf(seen.userAgent),
      ...placeOf(seen.ip),
      additional_data:
        seen.type === 'clicked' ? { original_url: seen.url, query_params: seen.query } : null,
      created_at: seen.at.toISOString(),
    }
  }

  return {
    get counts() {
      return { ...stored, dropped: queue.dropped }
    },
    get waiting() {
      return queue.waiting
    },
    add: queue.add,
    stop: queue.stop,
  }
}

function occurrenceOf(row: NewTrackingEvent): Occurrence {
  const about = { org_id: row.organization_id, domain: row.domain }
  const email_id = row.email_id ?? ''
  const data = {
    email_id,
    message_id: messageIdOf(email_id),
    recipient: row.recipient,
    organization_id: row.organization_id,
    ...(row.ip_address !== null && { ip_address: row.ip_address }),
    ...(row.user_agent !== null && { user_agent: row.user_agent }),
  }
  return row.event_type === 'clicked'
    ? occurrence(TrackingClick, about, { ...data, url: row.url ?? '' })
    : occurrence(TrackingOpen, about, data)
}
