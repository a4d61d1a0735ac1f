import type { EventRow } from '../../../events/events.ts'
import { bodySignature, inlineSignature, standardSignature } from './signature.ts'

/** A row of `events`. */
export type StoredEvent = EventRow & { created_at: string }

/** The content of a request without its signature. It is equal for every attempt. */
export const envelopeOf = (event: StoredEvent) => ({
  id: event.id,
  event: event.event,
  timestamp: event.created_at,
  source: event.source,
  org_id: event.org_id,
  domain: event.domain,
  tags: event.tags,
  user_variables: event.user_variables,
  data: event.data,
  metadata: event.metadata,
})

export type Envelope = ReturnType<typeof envelopeOf>

/**
 * Body and headers of one attempt. The first secret makes all signatures; the others, which a receiver
 * may still use, only sign the header that can hold several signatures.
 */
export function signedRequest(envelope: Envelope, secrets: readonly string[], now: Date) {
  const [secret = ''] = secrets
  const { id } = envelope
  const body = JSON.stringify({ ...envelope, signature: inlineSignature(secret, now) })
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Svc-Webhook/2.0',
      'x-webhook-id': id,
      'x-webhook-event': envelope.event,
      'x-webhook-source': envelope.source,
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': bodySignature(secret, body),
      ...(secret !== '' && {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': standardSignature(secrets, `${id}.${timestamp}.${body}`),
      }),
    },
  }
}
