import type { Static, TObject } from 'typebox'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import type { EventType } from '../../../events/events.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import * as notices from './notices.repository.ts'

interface Subject {
  id: string
  organization_id: string | null
  mailbox: string
  webhook_url: string | null
}

/** Emits an event about a job and enqueues it for the webhook of the job, if it has one. */
export async function announce<Data extends TObject>(
  { events, now }: Pick<Core, 'events' | 'now'>,
  tx: Tx,
  job: Subject,
  type: EventType<Data>,
  data: Static<Data>,
): Promise<void> {
  const domain = domainOf(job.mailbox)
  await events.emit(tx, type, { org_id: job.organization_id, domain }, data)
  if (job.webhook_url === null) return
  const id = ulid()
  await notices.insert(tx, id, job.id, {
    id,
    event: type.name,
    source: type.source,
    org_id: job.organization_id,
    domain,
    tags: [],
    user_variables: {},
    data: data as object,
    metadata: {},
    created_at: now().toISOString(),
  })
}
