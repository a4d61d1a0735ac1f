import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Core } from '../core.ts'
import { type Networks, parseNetworks } from '../lib/cidr.ts'
import { readCookie } from '../lib/cookies.ts'
import { sameSecret, sha256 } from '../lib/tokens.ts'
import * as refused from './access.errors.ts'
import type { Access } from './access.ts'
import {
  anonymous,
  atLeast,
  type Caller,
  type Identity,
  isPlatform,
  type SessionKind,
} from './caller.ts'
import { clientAddress } from './client-address.ts'
import { serviceCredential } from './internal.ts'
import type { Auth } from './labels.ts'
import { COOKIES } from './sessions.ts'

type Needs = Pick<Core, 'access' | 'config' | 'now'>

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Decides before anything else whether a request may use its route: credential, throttle, second
 * factor, CSRF, scope, role. Who is refused learns nothing about the route's body rules.
 */
export function useGuard(app: FastifyInstance, { access, config, now }: Needs): void {
  const trusted = parseNetworks(config.SVC_TRUSTED_PROXIES) as Networks
  const identify = identifier(access, now)
  const isService = serviceCredential(config)

  app.decorateRequest('caller')
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })
  app.addHook('onReady', async () => {
    const open = routes.find(({ config: route }) => !route?.auth)
    if (open) throw new Error(`${open.method} ${open.url} does not say who may call it`)
  })

  app.addHook('onRequest', (request, _reply, next) => {
    const ip = clientAddress(request.raw, trusted)
    request.caller = callerOf(anonymous, request, ip)
    const { auth } = request.routeOptions.config
    if (!auth || request.is404) return next()
    if (auth.kind === 'internal') {
      return next(isService(request.raw) ? undefined : new refused.ServiceCredentialRequired())
    }
    const settle = (identity: Identity) => {
      request.caller = callerOf(identity, request, ip)
      checkSession(identity, request, auth)
      checkLabel(identity, auth)
      if (identity.kind !== 'anonymous') access.identities.used(identity)
      next()
    }
    try {
      const identity = identify(request, auth, ip)
      if (identity instanceof Promise) identity.then(settle).catch(next)
      else settle(identity)
    } catch (error) {
      next(error as Error)
    }
  })
}

/** Comes after idempotency: a bootstrap whose answer was lost may be asked for again. */
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
  atCommit: [],
})

/** Finds the credential that a route takes and whose it is; from memory where that is possible. */
function identifier(access: Access, now: () => Date) {
  const bySession = async (kind: SessionKind, token: string): Promise<Identity> => {
    const identity = await access.identities.session(kind, sha256(token))
    if (!identity) throw new refused.SessionInvalid()
    return identity
  }

  const byKey = (key: string, ip: string): Identity | Promise<Identity> => {
    const block = access.blocked.until(ip)
    if (block instanceof Promise) return block.then((until) => byUnblockedKey(key, ip, until))
    return byUnblockedKey(key, ip, block)
  }

  const byUnblockedKey = (key: string, ip: string, blockedUntil: Date | undefined) => {
    if (blockedUntil) throw new refused.TooManyAttempts(blockedUntil, now())
    const hash = sha256(key)
    const cached = access.identities.cachedKey(hash)
    return cached ? unexpired(cached) : lookUp(hash, ip)
  }

  const lookUp = async (hash: string, ip: string): Promise<Identity> => {
    const identity = await access.throttle.attempt(
      'api_key',
      [{ client_ip: ip }],
      () => access.identities.lookUpKey(hash),
      // A valid key does not excuse the invalid ones before it.
      { clears: () => false },
    )
    if (identity) return unexpired(identity)
    // The feed tells of a new block a moment later; here it must hold for the very next request.
    await access.blocked.read(ip)
    throw new refused.InvalidApiKey()
  }

  const unexpired = (identity: Identity): Identity => {
    if (access.identities.isExpired(identity)) throw new refused.ApiKeyExpired()
    return identity
  }

  return (request: FastifyRequest, auth: Auth, ip: string): Identity | Promise<Identity> => {
    const { headers } = request
    const cookie = (kind: SessionKind) => readCookie(headers.cookie, COOKIES[kind].session)
    switch (auth.kind) {
      case 'none':
      case 'internal':
      case 'bootstrap-token':
        return anonymous
      case 'mailbox-session': {
        const token = bearer(headers.authorization) ?? cookie('mailbox')
        if (!token) throw new refused.AuthenticationRequired()
        const found = bySession('mailbox', token)
        return auth.endedToo ? found.catch(nobodyIfEnded) : found
      }
      case 'partial-operator': {
        const token = cookie('operator')
        if (!token) throw new refused.AuthenticationRequired()
        return bySession('operator', token)
      }
    }
    const operatorToken = cookie('operator')
    if (operatorToken) return bySession('operator', operatorToken)
    const key = headers['x-api-key']
    if (key !== undefined && key !== '') return byKey(String(key), ip)
    const dashboardToken = cookie('dashboard')
    if (dashboardToken) return bySession('dashboard', dashboardToken)
    throw auth.kind === 'key' ? new refused.ApiKeyRequired() : new refused.AuthenticationRequired()
  }
}

/** What holds for a session wherever it is used: its address, its second factor, its CSRF token. */
function checkSession({ session }: Identity, request: FastifyRequest, auth: Auth): void {
  if (!session) return
  if (session.kind === 'operator' && session.ip !== request.caller.ip) {
    throw new refused.OperatorAddressMismatch()
  }
  const takesPartial =
    auth.kind === 'partial-operator' || (auth.kind === 'platform' && auth.partialToo)
  if (!session.mfaSatisfied && !takesPartial) throw new refused.MfaRequired()
  if (SAFE.has(request.method)) return
  // A browser never sends a bearer token by itself; only mailbox sessions take one.
  if (session.kind === 'mailbox' && bearer(request.headers.authorization)) return
  const echoed = request.headers['x-csrf-token']
  const cookie = readCookie(request.headers.cookie, COOKIES[session.kind].csrf)
  const matches =
    typeof echoed === 'string' &&
    cookie !== undefined &&
    sameSecret(echoed, cookie) &&
    sameSecret(sha256(echoed), session.csrfHash)
  if (!matches) throw new refused.CsrfInvalid()
}

/** Whether this identity is one the label lets in. */
function checkLabel(identity: Identity, auth: Auth): void {
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
    case 'dashboard-session':
      if (identity.kind !== 'user') throw new refused.DashboardSessionRequired()
      return
    case 'key':
      checkPermission(identity, auth.permission)
      return
  }
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

/** Only an ended session makes nobody of its holder; a failure of the database stays one. */
const nobodyIfEnded = (error: unknown): Identity => {
  if (error instanceof refused.SessionInvalid) return anonymous
  throw error
}

const bearer = (header: string | undefined): string | undefined =>
  header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() || undefined : undefined

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    rawBody: Buffer | undefined
  }
  interface FastifyContextConfig {
    /** Who may call the route; one without it stops the server from starting. */
    auth?: Auth
    /** `handler`: the route's rules judge the body and answer 400; otherwise the schema does, 422. */
    validation?: 'handler'
  }
}
