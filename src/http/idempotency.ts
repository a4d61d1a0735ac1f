import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../core.ts'
import { ApiError, defineError, Unprocessable } from '../errors.ts'
import { sha256 } from '../lib/tokens.ts'
import { ulid } from '../lib/ulid.ts'
import { done } from './envelope.ts'
import * as keys from './idempotency.repository.ts'
import { successStatus } from './success-status.ts'

const MUTATING = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const HEARTBEAT_MS = 15_000
const MAX_STORED_BYTES = 1024 * 1024
const MAX_PATH = 1024
const PURPOSE = 'idempotent response'
// Refusals are not outcomes of the operation: a caller who signs in, or waits, may try again.
const NEVER_KEPT = new Set([401, 403, 429])

const KeyReused = defineError({
  status: 422,
  code: 'IDEMPOTENCY_KEY_REUSED',
  message: 'This Idempotency-Key was used with a different body; use a new key for a new operation',
})

class InProgress extends ApiError {
  constructor() {
    super(409, 'The original request with this Idempotency-Key is still running; retry shortly', {
      code: 'IDEMPOTENCY_IN_PROGRESS',
      headers: { 'retry-after': '1' },
    })
  }
}

interface Claim {
  operation: keys.Operation
  id: string
}

interface StoredResponse {
  body: string
  headers: Record<string, string | string[]>
}

type Needs = Pick<Core, 'db' | 'vault' | 'log'>

/**
 * A mutating request that carries an Idempotency-Key happens once. The claim is a row; the change
 * marks that row in its own transaction, so a process that dies between commit and answer does not
 * let the retry do the work a second time.
 */
export function useIdempotency(app: FastifyInstance, { db, vault, log }: Needs): void {
  const running = new Set<string>()
  const heartbeat = setInterval(() => {
    if (running.size === 0) return
    keys.keepAlive(db, [...running]).catch((error) => log.warn({ err: error }, 'heartbeat failed'))
  }, HEARTBEAT_MS)
  heartbeat.unref()
  app.addHook('onClose', async () => clearInterval(heartbeat))

  app.decorateRequest('claim', null)

  // Most requests carry no key; they pass both hooks without waiting for a promise.
  app.addHook('preValidation', (request, reply, next) => {
    const header = request.headers['idempotency-key']
    if (header === undefined || !MUTATING.has(request.method) || request.is404) return next()
    return claimOrReplay(request, reply, String(header))
  })

  async function claimOrReplay(request: FastifyRequest, reply: FastifyReply, key: string) {
    const operation = operationOf(request, key)
    const hash = vault.fingerprint('idempotent request', request.rawBody ?? '')
    const id = ulid()
    if (await keys.claim(db, operation, hash, id)) {
      running.add(id)
      request.claim = { operation, id }
      request.caller.atCommit.push(async (tx) => {
        const { numUpdatedRows } = await keys.markCommitted(tx, operation, id)
        // Another process took over after a long silence; only one of us may commit.
        if (numUpdatedRows === 0n) throw new InProgress()
      })
      return
    }
    return replay(await keys.find(db, operation), hash, request, reply)
  }

  function replay(
    found: Awaited<ReturnType<typeof keys.find>>,
    hash: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    if (found && found.request_hash !== hash) throw new KeyReused()
    reply.header('idempotency-replayed', 'true')
    if (found?.state === 'completed' && found.response) {
      const stored = JSON.parse(vault.open(PURPOSE, found.response)) as StoredResponse
      reply.headers(stored.headers).serializer((body) => body as string)
      return reply.code(found.response_status as number).send(stored.body)
    }
    if (found?.state === 'committed' && found.stale) {
      // The process died before it could answer. What it answered is lost, what it did is not.
      return reply
        .code(successStatus(request))
        .serializer(JSON.stringify)
        .send(done('The original request was carried out; its response was not kept'))
    }
    reply.removeHeader('idempotency-replayed')
    throw new InProgress()
  }

  app.addHook('onSend', (request, reply, payload, next) => {
    const { claim } = request
    if (!claim) return next(null, payload)
    request.claim = null
    return settle(claim, request, reply, payload)
  })

  async function settle(
    claim: Claim,
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
  ) {
    running.delete(claim.id)
    try {
      const body = payload === undefined || payload === null ? '' : payload
      const storable = typeof body === 'string' && Buffer.byteLength(body) <= MAX_STORED_BYTES
      if (reply.statusCode >= 500 || NEVER_KEPT.has(reply.statusCode) || !storable) {
        await keys.release(db, claim.operation, claim.id)
      } else {
        const stored: StoredResponse = { body, headers: keptHeaders(reply) }
        const sealed = vault.seal(PURPOSE, JSON.stringify(stored))
        await keys.complete(db, claim.operation, claim.id, reply.statusCode, sealed)
      }
    } catch (error) {
      log.error({ err: error, correlation_id: request.id }, 'idempotent response was not stored')
    }
    return payload
  }
}

function operationOf(request: FastifyRequest, key: string): keys.Operation {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new Unprocessable('Idempotency-Key must be 1 to 255 visible ASCII characters')
  }
  const { caller } = request
  const token = request.headers['x-bootstrap-token']
  const who =
    caller.kind === 'anonymous'
      ? `anonymous ${caller.ip} ${token ? sha256(String(token)) : ''}`
      : `${caller.kind} ${caller.id}`
  // An entry of the primary key's index holds less than 2704 bytes.
  const path = request.url.length > MAX_PATH ? sha256(request.url) : request.url
  return { caller: who, method: request.method, path, key }
}

function keptHeaders(reply: FastifyReply): StoredResponse['headers'] {
  const kept: StoredResponse['headers'] = {}
  const names = ['content-type', 'set-cookie', 'location']
  // An error body names its correlation id, and the header must agree with it.
  if (reply.statusCode >= 400) names.push('x-correlation-id')
  for (const name of names) {
    const value = reply.getHeader(name)
    if (typeof value === 'string' || Array.isArray(value)) kept[name] = value
  }
  return kept
}

declare module 'fastify' {
  interface FastifyRequest {
    claim: Claim | null
  }
}
