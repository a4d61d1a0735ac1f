import { createHmac, randomBytes } from 'node:crypto'

export const SECRET = 'the secret of the benchmark'
export const BODY_BYTES = 1024

/** An envelope like those of Mailplane; `text` sets its size. */
const envelope = (id: string, n: number, text: string) => ({
  id,
  event: 'bench.sent',
  timestamp: new Date().toISOString(),
  source: 'api',
  org_id: null,
  domain: null,
  tags: [],
  user_variables: {},
  data: { n, text },
  metadata: {},
})

const hmac = (text: string) => createHmac('sha256', SECRET).update(text)

/** Makes the signatures of Mailplane for the other senders. */
export function signed(event: object & { id: string }) {
  const timestamp = Math.floor(Date.now() / 1000)
  const token = randomBytes(32).toString('hex')
  const signature = { timestamp, token, signature: hmac(`${timestamp}${token}`).digest('hex') }
  const body = JSON.stringify({ ...event, signature })
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-webhook-id': event.id,
      'x-webhook-timestamp': String(timestamp),
      'x-webhook-signature': `sha256=${hmac(body).digest('hex')}`,
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${hmac(`${event.id}.${timestamp}.${body}`).digest('base64')}`,
    },
  }
}

const DIGITS = 6
const sampleBytes = Buffer.byteLength(
  signed(envelope('bench-1-100000', 10 ** DIGITS / 10, '')).body,
)
export const FILLING = 'x'.repeat(BODY_BYTES - sampleBytes)

export const filledEnvelope = (id: string, n: number) => envelope(id, n, FILLING)
