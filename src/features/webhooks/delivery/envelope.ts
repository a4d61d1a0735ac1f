import { bodySignature, inlineSignature } from './signature.ts'

/** An event as it was stored. */
export interface StoredEvent {
  id: string
  event: string
  source: string
  org_id: string | null
  domain: string | null
  tags: object
  user_variables: object
  data: object
  metadata: object
  created_at: string
}

/** What receivers get, but for the signature: the same however often it is sent. */
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

/** Body and headers of one attempt. */
export function signedRequest(envelope: Envelope, secret: string, now: Date) {
  const body = JSON.stringify({ ...envelope, signature: inlineSignature(secret, now) })
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Svc-Webhook/2.0',
      'x-webhook-id': envelope.id,
      'x-webhook-event': envelope.event,
      'x-webhook-source': envelope.source,
      'x-webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'x-webhook-signature': bodySignature(secret, body),
    },
  }
}
