import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Core } from '../core.ts'
import { refusedByRules } from '../lib/address-rules.ts'
import { type Networks, parseNetworks } from '../lib/ip.ts'
import { sameSecret, sha256 } from '../lib/tokens.ts'
import * as refused from './access.errors.ts'
import {
  anonymous,
  atLeast,
  type Caller,
  type Identity,
  isPlatform,
  type SessionKind,
} from './caller.ts'
import { clientAddress } from './client-address.ts'
import { identify, type Lookup, sessionProblem } from './credentials.ts'
import { bearer, internalGate } from './internal.ts'
import type { Auth } from './labels.ts'
import { areaOf, permits } from './scopes.ts'
import { COOKIES } from './sessions.ts'

type Needs = Pick<Core, 'access' | 'config' | 'internalToken' | 'now'>

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Decides before anything else whether a request may use its route: credential, throttle, second
 * factor, CSRF, scope, role. A rejected caller learns nothing about the validation of the body.
 */
export function useGuard(
  app: FastifyInstance,
  { access, config, internalToken, now }: Needs,
): void {
  const trusted = parseNetworks(config.SVC_TRUSTED_PROXIES) as Networks
  const lookup: Lookup = { access, now, checkInternal: internalGate(internalToken) }

  app.decorateRequest('caller')
  app.decorateRequest('unusableCookies')
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })
  app.addHook('onReady', async () => {
    const unlabelled = routes.find(({ config: route }) => !route?.auth)
    if (unlabelled) {
      throw new Error(`${unlabelled.method} ${unlabelled.url} does not say who may call it`)
    }
  })

  app.addHook('onRequest', (request, _reply, next) => {
    const ip = clientAddress(request.raw, trusted)
    request.caller = callerOf(anonymous, request, ip)
    request.unusableCookies = []
    const { auth } = request.routeOptions.config
    if (!auth || request.is404) return next()
    const settle = (identity: Identity) => {
      request.caller = callerOf(identity, request, ip)
      checkAddress(identity, ip, auth)
      checkSession(identity, request, auth)
      checkLabel(identity, auth)
      checkScopes(identity, auth, request.routeOptions.url)
      if (identity.kind !== 'anonymous') access.identities.used(identity)
      next()
    }
    try {
      const identity = identify(lookup, request, auth, ip)
      if (identity instanceof Promise) identity.then(settle).catch(next)
      else settle(identity)
    } catch (error) {
      next(error as Error)
    }
  })
}

/** Runs after idempotency, so that a bootstrap whose response was lost can be replayed. */
export function useBootstrapGate(app: FastifyInstance, { access }: Pick<Core, 'access'>): void {
  app.addHook('preValidation', (request, _reply, next) => {
    const { auth } = request.routeOptions.config
    if (auth?.kind !== 'bootstrap-token') return next()
    const token = request.headers['x-bootstrap-token']
    return access.bootstrap.verify(auth.of, token === undefined ? undefined : String(token))
  })
}

const callerOf = (identity: Identity, request: FastifyRequest, ip: string): Caller => ({
  ...identity,
  ip,
  userAgent: request.headers['user-agent'] ?? null,
  correlationId: request.id,
  atStart: [],
  atCommit: [],
})

/** Applies the IP rules of an organization. Operators are not bound, so that there is a way back. */
function checkAddress(identity: Identity, ip: string, auth: Auth): void {
  // A logout ends access, so it is always possible.
  if (isPlatform(identity) || ('endedToo' in auth && auth.endedToo)) return
  if (refusedByRules(identity.addressRules, ip)) throw new refused.AddressNotAllowed(ip)
}

/** Checks the IP address, the second factor and the CSRF token of a session. */
function checkSession({ session }: Identity, request: FastifyRequest, auth: Auth): void {
  if (!session) return
  const problem = sessionProblem(session, request.caller.ip, auth)
  if (problem) throw problem
  if (SAFE.has(request.method)) return
  // A browser never sends a bearer token by itself, so it needs no CSRF token.
  if (session.kind === 'mailbox' && bearer(request.headers.authorization)) return
  const echoed = request.headers['x-csrf-token']
  const cookie = request.cookies[COOKIES[session.kind].csrf]
  const matches =
    typeof echoed === 'string' &&
    cookie !== undefined &&
    sameSecret(echoed, cookie) &&
    sameSecret(sha256(echoed), session.csrfHash)
  if (!matches) throw new refused.CsrfInvalid()
}

/** Checks that the auth label of the route admits this identity. */
function checkLabel(identity: Identity, auth: Auth): void {
  // Only a label that admits ended sessions lets an anonymous caller come this far.
  if (identity.kind === 'anonymous') return
  switch (auth.kind) {
    case 'platform':
      if (!isPlatform(identity)) throw new refused.PlatformScopeRequired()
      return
    case 'operator':
      if (!isPlatform(identity)) throw new refused.PlatformScopeRequired()
      if (!atLeast(identity.role, auth.role)) throw new refused.InsufficientRole()
      return
    case 'mailbox-session':
      if (identity.mustChangePassword && !auth.oldPasswordToo) {
        throw new refused.PasswordChangeRequired()
      }
      return
    case 'mail-program':
      if (identity.mustChangePassword) throw new refused.PasswordChangeRequired()
      return
    case 'dashboard-session':
      if (identity.kind !== 'user') throw new refused.DashboardSessionRequired()
      return
    case 'key':
      checkPermission(identity, auth.permission)
      return
  }
}

/** A key with scopes is limited to their areas. */
function checkScopes({ scopes }: Identity, auth: Auth, url: string | undefined): void {
  if (scopes === null || (auth.kind !== 'key' && auth.kind !== 'platform')) return
  const level = auth.kind === 'key' ? auth.permission : 'read'
  const area = areaOf(url)
  if (!permits(scopes, level, area)) throw new refused.ScopeRequired(`${area}:${level}`)
}

function checkPermission(identity: Identity, permission: 'read' | 'write' | 'admin'): void {
  if (permission === 'read') return
  if (identity.kind === 'operator') {
    if (!atLeast(identity.role, permission === 'write' ? 'operator' : 'admin')) {
      throw new refused.InsufficientRole()
    }
    return
  }
  if (identity.readOnly) throw new refused.WriteAccessRequired()
  if (permission === 'admin' && !identity.adminAccess) throw new refused.AdminAccessRequired()
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    rawBody: Buffer | undefined
    /** Kinds of session cookies that were sent and cannot be used; a logout clears them. */
    unusableCookies: SessionKind[]
  }
  interface FastifyContextConfig {
    /** The auth label; the server does not start with a route that has none. */
    auth?: Auth
    /** `handler`: the service validates the body (400); otherwise the schema does (422). */
    validation?: 'handler'
  }
}
