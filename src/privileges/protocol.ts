import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { type AnswerLine, QueueRequest } from '../mail/queue-request.ts'
import { LOGGED_SERVERS } from '../mail/server-logs.ts'

// A list of some thousand certificates.
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024

const Text = (maxLength: number) => Type.String({ maxLength })
const closed = { additionalProperties: false }

/** Everything that the helper does; it refuses any other request. */
export const REQUESTS = {
  queue: QueueRequest,
  restart: Type.Object({ server: Type.Enum(['postfix', 'dovecot', 'rspamd', 'clamd']) }, closed),
  'signing-keys': Type.Object(
    {
      domain: Text(253),
      keys: Type.Array(Type.Object({ selector: Text(253), privateKey: Text(16_384) }, closed), {
        maxItems: 100,
      }),
      signing: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._-]{1,253}$' })),
    },
    closed,
  ),
  'server-log': Type.Object({ server: Type.Enum([...LOGGED_SERVERS]) }, closed),
  'signing-domains': Type.Object({}, closed),
  certificates: Type.Object(
    {
      certificates: Type.Array(
        Type.Object(
          { domain: Text(253), names: Type.Array(Text(255)), pem: Text(262_144) },
          closed,
        ),
      ),
      version: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    },
    closed,
  ),
} as const

export type Verb = keyof typeof REQUESTS
export type RequestOf<Name extends Verb> = Type.Static<(typeof REQUESTS)[Name]>

/** The lines that the helper sends. */
export type Answer = AnswerLine

/** Reads one line of JSON, `["verb", {…}]`; throws for everything that is not in the list. */
export function readRequest(line: string): { verb: Verb; request: unknown } {
  const [verb, request] = JSON.parse(line) as [unknown, unknown]
  if (typeof verb !== 'string' || !Object.hasOwn(REQUESTS, verb)) {
    throw new Error('the helper does not know this request')
  }
  const name = verb as Verb
  if (!Value.Check(REQUESTS[name], request)) throw new Error(`the request ${name} is malformed`)
  return { verb: name, request }
}
