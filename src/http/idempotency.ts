import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../core.ts'
import { ApiError, defineError, Unprocessable } from '../errors.ts'
import { type Lease, newLease } from '../jobs/lease.ts'
import { sha256 } from '../lib/tokens.ts'
import { done } from './envelope.ts'
import { failedWithoutDatabase } from './error-handler.ts'
import * as keys from './idempotency.repository.ts'
import { successStatus } from './success-status.ts'

const MUTATING = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const LEASE_SECONDS = 60
const RENEW_MS = 15_000
const RETRY_MS = 250
const MAX_RETRY_MS = 4000
const MAX_STORED_BYTES = 1024 * 1024
const MAX_PATH = 1024
const PURPOSE = 'idempotent response'
// 401, 403 and 429 are not outcomes of the operation, so the request may be repeated.
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
  lease: Lease
}

interface StoredResponse {
  body: string
  headers: Record<string, string | string[]>
}

type Needs = Pick<Core, 'db' | 'vault' | 'log'>

/**
 * A mutating request with an Idempotency-Key runs once. The claim is a row that the change marks in
 * its own transaction, so a retry does not repeat the work after a crash between commit and response.
 */
export function useIdempotency(app: FastifyInstance, { db, vault, log }: Needs): void {
  const running = new Set<Claim>()
  const renew = ({ operation, lease }: Claim) =>
    keys
      .renew(db, operation, lease)
      .catch((error) => log.warn({ err: error }, 'lease renewal failed'))
  // One timer for all requests, because few of them last until it fires.
  const renewing = setInterval(() => {
    for (const claim of running) void renew(claim)
  }, RENEW_MS)
  renewing.unref()
  let isClosed = false
  app.addHook('onClose', async () => {
    isClosed = true
    clearInterval(renewing)
  })

  app.decorateRequest('claim', null)

  // Most requests carry no key; they pass both hooks without waiting for a promise.
  app.addHook('preValidation', (request, reply, next) => {
    const header = request.headers['idempotency-key']
    if (header === undefined || !MUTATING.has(request.method) || request.is404) return next()
    return claimOrReplay(request, reply, String(header))
  })

  async function claimOrReplay(request: FastifyRequest, reply: FastifyReply, key: string) {
    const operation = operationOf(request, key)
    if (isStranger(request)) return
    const hash = vault.fingerprint('idempotent request', request.rawBody ?? '')
    const lease = newLease(LEASE_SECONDS)
    if (await keys.claim(db, operation, hash, lease)) {
      const claim = { operation, lease }
      running.add(claim)
      request.claim = claim
      request.caller.atCommit.push(async (tx) => {
        const { numUpdatedRows } = await keys.markCommitted(tx, operation, lease)
        // The lease was lost to another process; only one of the two may commit.
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
      // The process died after the commit: the change is done, its response is lost.
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
    running.delete(claim)
    const store = storing(claim, request, reply, payload)
    // The database is away: the caller does not wait for it once more.
    if (failedWithoutDatabase(request)) void retry(store, request.id)
    else {
      await store().catch((error) => {
        log.warn({ err: error, correlation_id: request.id }, 'idempotent response not stored yet')
        void retry(store, request.id)
      })
    }
    return payload
  }

  function storing(claim: Claim, request: FastifyRequest, reply: FastifyReply, payload: unknown) {
    const { operation, lease } = claim
    const { statusCode } = reply
    const body = payload === undefined || payload === null ? '' : payload
    const storable = typeof body === 'string' && Buffer.byteLength(body) <= MAX_STORED_BYTES
    if (!isOutcome(request, statusCode) || !storable) {
      return () => keys.release(db, operation, lease)
    }
    const stored: StoredResponse = { body, headers: keptHeaders(reply) }
    const sealed = vault.seal(PURPOSE, JSON.stringify(stored))
    return () => keys.complete(db, operation, lease, statusCode, sealed)
  }

  /** A claim whose end is not stored would refuse its key until the lease ends. */
  async function retry(store: () => Promise<unknown>, id: string): Promise<void> {
    const end = performance.now() + LEASE_SECONDS * 1000
    for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_RETRY_MS)) {
      try {
        await store()
        return
      } catch (error) {
        if (isClosed || performance.now() > end) {
          log.error({ err: error, correlation_id: id }, 'idempotent response was not stored')
          return
        }
      }
      await sleep(pauseMs, undefined, { ref: false })
    }
  }
}

/**
 * A caller without a credential leaves no row, or strangers could fill the table. The routes that
 * they may change something with (logins, one-click unsubscribe) can be repeated.
 */
const isStranger = ({ caller, routeOptions }: FastifyRequest): boolean => {
  const kind = routeOptions.config.auth?.kind
  return caller.kind === 'anonymous' && kind !== 'internal' && kind !== 'bootstrap-token'
}

/** A failed bootstrap is not kept, because anyone may send a wrong token. */
const isOutcome = ({ routeOptions }: FastifyRequest, status: number): boolean =>
  routeOptions.config.auth?.kind === 'bootstrap-token'
    ? status < 300
    : status < 500 && !NEVER_KEPT.has(status)

function operationOf(request: FastifyRequest, key: string): keys.Operation {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new Unprocessable('Idempotency-Key must be 1 to 255 visible ASCII characters')
  }
  const { caller } = request
  const token = request.headers['x-bootstrap-token']
  // An answer may hold a secret, so another session of the same person does not get it.
  const session = caller.session ? ` ${caller.session.id}` : ''
  const who =
    caller.kind === 'anonymous'
      ? `anonymous ${caller.ip} ${token ? sha256(String(token)) : ''}`
      : `${caller.kind} ${caller.id}${session}`
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
