import { parseIso } from '../../../lib/dates.ts'

/** An event as it was stored, read back from the envelope that could not be delivered. */
export interface StoredEvent {
  event: string
  source: string
  /** As the envelope has it: to the microsecond, which a Date would lose. */
  created_at: string
  org_id: string | null
  domain: string | null
  tags: unknown[]
  user_variables: object
  data: object
  metadata: object
}

/** The event in an envelope, or why there is none to be had. */
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
