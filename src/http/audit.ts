import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isPlatform } from '../access/caller.ts'
import { isConsole } from '../access/labels.ts'
import type { Core } from '../core.ts'
import { type AuditEntry, insertEntries } from './audit.repository.ts'
import { redact } from './redact.ts'
import { successStatus } from './success-status.ts'

/** Short, so that each is little work: what waits for PostgreSQL meanwhile should not notice. */
const FLUSH_MS = 50
const MAX_BATCH = 500
const MAX_BODY_BYTES = 16 * 1024

type Needs = Pick<Core, 'db' | 'log' | 'now'>

/**
 * Records what operators do and what is tried on the operators' routes; handlers never do this
 * themselves. The row of a change is stored in the change's own transaction. Reads and refusals
 * change nothing, so they are written a moment later, many at once.
 */
export function useAudit(app: FastifyInstance, { db, log, now }: Needs): void {
  let waiting: AuditEntry[] = []
  let writing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const write = () => {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting.splice(0, MAX_BATCH)
    if (batch.length === 0) return writing
    writing = writing
      .then(() => insertEntries(db, batch))
      .catch((error) =>
        log.error({ err: error, entries: batch.length }, 'audit rows were not stored'),
      )
    return writing
  }
  app.addHook('onClose', async () => {
    while (waiting.length > 0) await write()
    await writing
    waiting = []
  })

  app.decorateRequest('audited', false)

  // After the guard: the caller is known, and whatever a service commits now is the request's.
  app.addHook('preHandler', (request, _reply, next) => {
    if (concernsOperators(request) && request.method !== 'GET' && request.method !== 'HEAD') {
      request.caller.atCommit.push(async (tx) => {
        if (request.audited) return
        await insertEntries(tx, [entryOf(request, successStatus(request), now())])
        request.audited = true
      })
    }
    next()
  })

  app.addHook('onResponse', (request, reply, next) => {
    // A change whose commit failed took its row with it; the failure is told instead.
    const isStored = request.audited && reply.statusCode < 400
    if (!isStored && concernsOperators(request)) {
      waiting.push(entryOf(request, reply.statusCode, now()))
      if (waiting.length >= MAX_BATCH) void write()
      else timer ??= setTimeout(write, FLUSH_MS).unref()
    }
    next()
  })
}

const concernsOperators = ({ routeOptions, caller }: FastifyRequest): boolean => {
  const { auth, audited } = routeOptions.config
  return auth !== undefined && (isConsole(auth) || audited === true || isPlatform(caller))
}

function entryOf(request: FastifyRequest, status: number, time: Date): AuditEntry {
  const { caller, routeOptions } = request
  const params = (request.params ?? {}) as Record<string, string>
  const [target] = Object.entries(params)
  const isOperator = caller.kind === 'operator'
  return {
    operator_id: isOperator ? caller.id : null,
    operator_email: isOperator ? caller.email : null,
    caller_scope:
      caller.kind === 'anonymous' ? null : isPlatform(caller) ? 'platform' : 'organization',
    action: routeOptions.schema?.operationId ?? `${request.method} ${routeOptions.url}`,
    target_type: target?.[0] ?? null,
    target_id: target?.[1] ?? null,
    organization_id: params.organization_id ?? params.org_id ?? caller.organizationId,
    request_body: bodyOf(request),
    result: status < 400 ? 'success' : 'failure',
    status_code: status,
    ip_address: caller.ip,
    correlation_id: request.id,
    created_at: time.toISOString(),
  }
}

function bodyOf({ body, rawBody }: FastifyRequest): object | null {
  if (!rawBody?.length || body === null || typeof body !== 'object') return null
  if (rawBody.length > MAX_BODY_BYTES) return { omitted: `${rawBody.length} bytes` }
  return redact(body) as object
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The row of this request is stored already, together with its change. */
    audited: boolean
  }
  interface FastifyContextConfig {
    /** Audited although the label does not say so, such as an operator's login. */
    audited?: boolean
  }
}
