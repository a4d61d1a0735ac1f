import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { suppress } from '../../../hosting/suppressions.repository.ts'
import { ulid } from '../../../lib/ulid.ts'
import { storeEvents } from '../store-events.ts'
import { Complaint } from '../tracking.events.ts'
import type { NewTrackingEvent, TrackingEventType } from '../tracking-events.repository.ts'
import type { Owner } from './owner.ts'

/** An event from a report, which has no data about a browser. */
export const reported = (
  owner: Owner,
  recipient: string,
  type: TrackingEventType,
  more: object,
  now: Date,
): NewTrackingEvent => ({
  id: ulid(now.getTime()),
  ...owner,
  recipient,
  event_type: type,
  automated: false,
  automated_reason: null,
  url: null,
  user_agent: null,
  ip_address: null,
  referer: null,
  accept_language: null,
  device_type: null,
  browser: null,
  operating_system: null,
  country: null,
  region: null,
  city: null,
  additional_data: more,
  created_at: now.toISOString(),
})

/** Stores a complaint, suppresses the recipient for this organization and emits the event. */
export const complaintRecorder =
  ({ events, now }: Pick<Core, 'events' | 'now'>) =>
  async (
    tx: Tx,
    owner: Owner,
    recipient: string,
    complaint_type: string,
    source: string,
    more: object,
  ): Promise<void> => {
    const { organization_id, domain, email_id } = owner
    const data = { ...more, complaint_type }
    await storeEvents(tx, [reported(owner, recipient, 'complained', data, now())])
    const reason = `Complaint: ${complaint_type}`
    await suppress(tx, 'COMPLAINT', [{ email: recipient, organization_id, reason, source }], now())
    await events.emit(
      tx,
      Complaint,
      { org_id: organization_id, domain: domain || null },
      { recipient, complaint_type, organization_id, ...(email_id !== null && { email_id }) },
    )
  }
