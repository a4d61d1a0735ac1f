import type { FastifyRequest } from 'fastify'
import { throttleKey } from '../lib/ip.ts'
import { sha256 } from '../lib/tokens.ts'
import * as refused from './access.errors.ts'
import type { Access } from './access.ts'
import { anonymous, type Identity, type Session, type SessionKind } from './caller.ts'
import { bearer, type internalGate } from './internal.ts'
import type { Auth } from './labels.ts'
import { COOKIES } from './sessions.ts'

export interface Lookup {
  access: Access
  now: () => Date
  checkInternal: ReturnType<typeof internalGate>
}

/** Finds the identity behind the credential of a request; from memory where possible. */
export function identify(
  lookup: Lookup,
  request: FastifyRequest,
  auth: Auth,
  ip: string,
): Identity | Promise<Identity> {
  switch (auth.kind) {
    case 'none':
    case 'bootstrap-token':
      return anonymous
    case 'internal':
      lookup.checkInternal(request.raw)
      return anonymous
    case 'mailbox-session':
      return identifyMailbox(lookup, request, auth.endedToo)
    case 'mail-program':
      return identifyProgram(lookup, request)
    case 'partial-operator': {
      const token = sessionToken(request, 'operator')
      if (!token) throw new refused.AuthenticationRequired()
      return identifySession(lookup, 'operator', token)
    }
  }
  const operatorToken = sessionToken(request, 'operator')
  if (operatorToken) return identifyOperator(lookup, request, auth, ip, operatorToken)
  return identifyTenant(lookup, request, auth, ip)
}

/** The reason why a session that exists cannot be used for this route. */
export function sessionProblem(session: Session, ip: string, auth: Auth): Error | undefined {
  if (session.kind === 'operator' && session.ip !== ip) return new refused.OperatorAddressMismatch()
  return session.mfaSatisfied || takesPartial(session, auth) ? undefined : new refused.MfaRequired()
}

function takesPartial({ kind }: Session, auth: Auth): boolean {
  switch (auth.kind) {
    case 'partial-operator':
      return true
    case 'platform':
      return auth.partialToo && kind === 'operator'
    case 'dashboard-session':
      return auth.partialToo && kind === 'dashboard'
    case 'key-or-session':
      return auth.partialToo
    default:
      return false
  }
}

/**
 * A browser may hold sessions of all three kinds. A page names the one that it uses in X-Session; the
 * cookies of the others are then not read.
 */
function sessionToken({ cookies, headers }: FastifyRequest, kind: SessionKind): string | undefined {
  const named = headers['x-session']
  return named === undefined || named === kind ? cookies[COOKIES[kind].session] : undefined
}

const keySent = ({ headers }: FastifyRequest): string | undefined => {
  const key = headers['x-api-key']
  return key === undefined || key === '' ? undefined : String(key)
}

/** An operator cookie comes first, but one that cannot be used does not hide another credential. */
async function identifyOperator(
  lookup: Lookup,
  request: FastifyRequest,
  auth: Auth,
  ip: string,
  token: string,
): Promise<Identity> {
  const identity = await lookup.access.identities.session('operator', sha256(token))
  const problem = identity?.session
    ? sessionProblem(identity.session, ip, auth)
    : new refused.SessionInvalid()
  if (identity && !problem) return identity
  request.unusableCookies.push('operator')
  if (hasOtherCredential(request, auth)) return identifyTenant(lookup, request, auth, ip)
  if (admitsEnded(auth)) return anonymous
  // The guard throws the problem of a session; until then its operator is known to the audit trail.
  if (identity) return identity
  throw problem
}

/** No key and no dashboard user has a role; a dashboard user has no platform scope. */
function hasOtherCredential(request: FastifyRequest, auth: Auth): boolean {
  if (auth.kind === 'operator') return false
  if (keySent(request) !== undefined) return true
  return auth.kind !== 'platform' && sessionToken(request, 'dashboard') !== undefined
}

const admitsEnded = (auth: Auth): boolean => 'endedToo' in auth && auth.endedToo

function identifyTenant(
  lookup: Lookup,
  request: FastifyRequest,
  auth: Auth,
  ip: string,
): Identity | Promise<Identity> {
  const key = keySent(request)
  if (key !== undefined) return identifyKey(lookup, key, ip)
  const dashboardToken = sessionToken(request, 'dashboard')
  if (dashboardToken) return identifyUser(lookup, request, auth, dashboardToken)
  const missing =
    auth.kind === 'key' ? new refused.ApiKeyRequired() : new refused.AuthenticationRequired()
  const token = bearer(request.headers.authorization)
  if (token !== undefined) return identifyToken(lookup, token, ip, missing)
  throw missing
}

async function identifyUser(lookup: Lookup, request: FastifyRequest, auth: Auth, token: string) {
  const identity = await lookup.access.identities.session('dashboard', sha256(token))
  if (identity) return identity
  request.unusableCookies.push('dashboard')
  if (admitsEnded(auth) && auth.kind !== 'platform') return anonymous
  throw new refused.SessionInvalid()
}

async function identifyMailbox(lookup: Lookup, request: FastifyRequest, endedToo: boolean) {
  const token = bearer(request.headers.authorization) ?? sessionToken(request, 'mailbox')
  if (!token) throw new refused.AuthenticationRequired()
  const session = identifySession(lookup, 'mailbox', token)
  return endedToo ? session.catch(anonymousIfEnded) : session
}

/** Credentials of programs are left to the route; a bearer token may also be that of a session. */
async function identifyProgram(lookup: Lookup, request: FastifyRequest): Promise<Identity> {
  const { authorization } = request.headers
  const isBearer = bearer(authorization) !== undefined
  if (authorization !== undefined && !isBearer) return anonymous
  if (!isBearer && !sessionToken(request, 'mailbox')) return anonymous
  return identifyMailbox(lookup, request, isBearer)
}

/** A database failure is not an ended session, so it is thrown again. */
function anonymousIfEnded(error: unknown): Identity {
  if (error instanceof refused.SessionInvalid) return anonymous
  throw error
}

async function identifySession({ access }: Lookup, kind: SessionKind, token: string) {
  const identity = await access.identities.session(kind, sha256(token))
  if (!identity) throw new refused.SessionInvalid()
  return identity
}

function identifyKey(lookup: Lookup, key: string, client: string): Identity | Promise<Identity> {
  const ip = throttleKey(client)
  const block = lookup.access.blocked.until(ip)
  return block instanceof Promise
    ? block.then((until) => identifyKeyUnlessBlocked(lookup, key, ip, until))
    : identifyKeyUnlessBlocked(lookup, key, ip, block)
}

function identifyKeyUnlessBlocked(
  lookup: Lookup,
  key: string,
  ip: string,
  blockedUntil: Date | undefined,
): Identity | Promise<Identity> {
  if (blockedUntil) throw new refused.TooManyAttempts(blockedUntil, lookup.now())
  const hash = sha256(key)
  const cached = lookup.access.identities.cachedKey(hash)
  return cached ? unexpired(lookup, cached) : lookUpKey(lookup, hash, ip)
}

async function lookUpKey(lookup: Lookup, hash: string, ip: string): Promise<Identity> {
  const { access } = lookup
  const identity = await access.throttle.attempt(
    'api_key',
    [{ client_ip: ip }],
    () => access.identities.lookUpKey(hash),
    // A valid key does not clear the failed attempts before it.
    { clears: () => false },
  )
  // The key is right, so this is no guess: other tenants at this IP address must not be blocked.
  if (identity === 'suspended') throw new refused.InvalidApiKey()
  if (identity) return unexpired(lookup, identity)
  // A new block must apply to the very next request; the NOTIFY feed would deliver it later.
  await access.blocked.read(ip)
  throw new refused.InvalidApiKey()
}

/**
 * An access token of the OAuth service, which stands for an API key. Any other bearer token, such as the
 * one of a mailbox session, counts as no credential.
 */
async function identifyToken(
  lookup: Lookup,
  token: string,
  client: string,
  missing: Error,
): Promise<Identity> {
  const ip = throttleKey(client)
  const { access } = lookup
  const blockedUntil = await access.blocked.until(ip)
  if (blockedUntil) throw new refused.TooManyAttempts(blockedUntil, lookup.now())
  const hash = sha256(token)
  const identity =
    access.identities.cachedToken(hash) ?? (await access.identities.lookUpToken(hash))
  if (!identity) throw missing
  if (identity === 'suspended' || access.identities.isExpired(identity))
    throw new refused.InvalidToken()
  return identity
}

function unexpired({ access }: Lookup, identity: Identity): Identity {
  if (access.identities.isExpired(identity)) throw new refused.ApiKeyExpired()
  return identity
}
