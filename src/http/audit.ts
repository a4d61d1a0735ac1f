import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isPlatform } from '../access/caller.ts'
import { isConsole } from '../access/labels.ts'
import type { Core } from '../core.ts'
import { invalidField } from '../errors.ts'
import { onceEvery } from '../lib/once-every.ts'
import { type AuditEntry, insertEntries } from './audit.repository.ts'
import { ownerOfTarget } from './audit-owner.repository.ts'
import { redact } from './redact.ts'
import { strangerBudget } from './stranger-budget.ts'
import { successStatus } from './success-status.ts'

/** Short, so that a batch is small and does not delay other queries. */
const FLUSH_MS = 50
const MAX_BATCH = 500
const MAX_BODY_BYTES = 16 * 1024
const MAX_BODY_BYTES_OF_STRANGERS = 1024
const MAX_REASON = 1000
const LOG_INTERVAL_MS = 60_000
/** The status of the row that says that a change has begun. */
const ACCEPTED = 202

type Needs = Pick<Core, 'db' | 'log' | 'now'>

/**
 * Writes the audit trail of operators and of requests on operator routes; handlers never do. The
 * row of a change is stored in the transaction of the change. A change outside the database has a
 * row before it as well. Rows of reads and rejections are written in batches after the response.
 */
export function useAudit(app: FastifyInstance, { db, log, now }: Needs): void {
  let waiting: AuditEntry[] = []
  let writing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const strangers = strangerBudget(now)
  const mayLog = onceEvery(LOG_INTERVAL_MS)

  const write = () => {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting.splice(0, MAX_BATCH)
    if (batch.length === 0) return writing
    writing = writing
      .then(() => insertEntries(db, batch))
      .catch((error) =>
        log.error({ err: error, entries: batch.length }, 'storing audit rows failed'),
      )
    return writing
  }
  app.addHook('onClose', async () => {
    while (waiting.length > 0) await write()
    await writing
    waiting = []
  })

  const mayRecord = ({ caller }: FastifyRequest): boolean => {
    if (caller.kind !== 'anonymous' || strangers.spend(caller.ip)) return true
    if (mayLog()) {
      log.warn({ ip: caller.ip }, 'audit rows of unauthenticated callers left out: too many')
    }
    return false
  }

  app.decorateRequest('audited', false)
  app.decorateRequest('targetOwner', null)

  // `/operators` creates what `/operators/:operator_id` names.
  const createdParams = new Map<string, string>()
  app.addHook('onRoute', ({ url }) => {
    const [, collection, name] = /^(.*)\/:(\w+)$/.exec(url) ?? []
    if (collection !== undefined && name !== undefined) createdParams.set(collection, name)
  })
  const entry = (request: FastifyRequest, status: number, result?: unknown) => {
    const url = request.routeOptions.url?.replace(/\/$/, '') ?? ''
    const created = createdBy(createdParams.get(url), result)
    return entryOf(request, status, now(), created, ownerIn(result))
  }

  // Runs after the guard, so the caller is known and every later commit belongs to this request.
  app.addHook('preHandler', async (request) => {
    const { caller, method } = request
    if (!concernsOperators(request) || method === 'GET' || method === 'HEAD') return
    refuseBlankReason(request)
    if (isPlatform(caller)) {
      request.targetOwner = await ownerOfTarget(db, request.params as Record<string, string>)
    }
    caller.atStart.push(() => insertEntries(db, [entry(request, ACCEPTED)]))
    caller.atCommit.push(async (tx, result) => {
      if (request.audited) return
      await insertEntries(tx, [entry(request, successStatus(request), result)])
      request.audited = true
    })
  })

  app.addHook('onResponse', (request, reply, next) => {
    // A failed commit also rolled back the audit row, so the failure is recorded here.
    const isStored = request.audited && reply.statusCode < 400
    if (!isStored && concernsOperators(request) && mayRecord(request)) {
      waiting.push(entry(request, reply.statusCode))
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

/** A required reason is for the reader of the audit trail; spaces alone say nothing. */
function refuseBlankReason({ body, routeOptions }: FastifyRequest): void {
  const { required } = (routeOptions.schema?.body ?? {}) as { required?: readonly string[] }
  const { reason } = (body ?? {}) as { reason?: unknown }
  if (required?.includes('reason') && typeof reason === 'string' && reason.trim() === '') {
    throw invalidField('reason', 'Must not be blank')
  }
}

type Target = readonly [type: string, id: string]

/** The id of what the request has created, under the name that paths have for it. */
function createdBy(name: string | undefined, result: unknown): Target | undefined {
  if (name === undefined || result === null || typeof result !== 'object') return undefined
  const { [name]: own, id = own } = result as Record<string, unknown>
  return typeof id === 'string' || typeof id === 'number' ? [name, String(id)] : undefined
}

function ownerIn(result: unknown): string | null {
  const { organization_id: id } = (result ?? {}) as { organization_id?: unknown }
  return typeof id === 'string' ? id : null
}

function entryOf(
  request: FastifyRequest,
  status: number,
  time: Date,
  created: Target | undefined,
  owner: string | null,
): AuditEntry {
  const { caller, routeOptions, targetOwner } = request
  const params = (request.params ?? {}) as Record<string, string>
  const [target = created] = Object.entries(params)
  const isOperator = caller.kind === 'operator'
  return {
    operator_id: isOperator ? caller.id : null,
    operator_email: isOperator ? caller.email : null,
    caller_scope:
      caller.kind === 'anonymous' ? null : isPlatform(caller) ? 'platform' : 'organization',
    action: routeOptions.schema?.operationId ?? `${request.method} ${routeOptions.url}`,
    target_type: target?.[0] ?? null,
    target_id: target?.[1] ?? null,
    api_key_id: caller.kind === 'key' ? caller.id : null,
    organization_id:
      params.organization_id ??
      params.org_id ??
      namedByPlatform(request) ??
      targetOwner ??
      owner ??
      caller.organizationId,
    request_body: bodyOf(request),
    result: status < 400 ? 'success' : 'failure',
    status_code: status,
    ip_address: caller.ip,
    correlation_id: request.id,
    created_at: time.toISOString(),
  }
}

/** A platform caller names an organization in the body or query where the path has none. */
function namedByPlatform({ body, caller, query }: FastifyRequest): string | undefined {
  if (!isPlatform(caller)) return undefined
  for (const part of [body, query]) {
    const { organization_id: named } = (part ?? {}) as { organization_id?: unknown }
    if (typeof named === 'string') return named.slice(0, 255)
  }
  return undefined
}

function bodyOf({ body, caller, rawBody }: FastifyRequest): object | null {
  if (!rawBody?.length || body === null || typeof body !== 'object') return null
  const limit = caller.kind === 'anonymous' ? MAX_BODY_BYTES_OF_STRANGERS : MAX_BODY_BYTES
  if (rawBody.length <= limit) return redact(body) as object
  const { reason } = body as { reason?: unknown }
  return {
    omitted: `${rawBody.length} bytes`,
    ...(typeof reason === 'string' && { reason: reason.slice(0, MAX_REASON) }),
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The audit row of this request was stored in the transaction of its change. */
    audited: boolean
    /** The organization of the row that the path names, read before the request changes it. */
    targetOwner: string | null
  }
  interface FastifyContextConfig {
    /** Audits a route whose auth label does not imply it, such as an operator's login. */
    audited?: boolean
  }
}
