import { parseIso } from '../../../lib/dates.ts'
import { isObject } from '../../../lib/is-object.ts'

/** An event, read back from the envelope in a dead letter. */
export interface StoredEvent {
  event: string
  source: string
  /** Text, because a Date would lose the microseconds. */
  created_at: string
  org_id: string | null
  domain: string | null
  tags: unknown[]
  user_variables: object
  data: object
  metadata: object
}

/** Returns the event in an envelope, or the reason why it cannot be restored. */
export function readEnvelope(payload: unknown): { event: StoredEvent } | { problem: string } {
  if (!isObject(payload)) return { problem: 'the stored payload is no envelope' }
  if (payload._truncated === true) {
    return { problem: 'the stored payload was truncated because of its size' }
  }
  const { event, source, timestamp, data } = payload
  if (
    typeof event !== 'string' ||
    typeof source !== 'string' ||
    typeof timestamp !== 'string' ||
    !parseIso(timestamp) ||
    !isObject(data)
  ) {
    return { problem: 'the stored payload is no envelope' }
  }
  return {
    event: {
      event,
      source,
      created_at: timestamp,
      org_id: textOrNull(payload.org_id),
      domain: textOrNull(payload.domain),
      tags: Array.isArray(payload.tags) ? payload.tags : [],
      user_variables: isObject(payload.user_variables) ? payload.user_variables : {},
      data,
      metadata: isObject(payload.metadata) ? payload.metadata : {},
    },
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
