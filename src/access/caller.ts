import type { Tx } from '../database/database.ts'
import type { Scope } from '../database/scope.ts'
import type { AddressRule } from '../lib/address-rules.ts'

export type { Scope } from '../database/scope.ts'

export const NOTHING: Scope = { organization: '' }

export const ROLES = ['support', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

export const atLeast = (role: Role | null, floor: Role): boolean =>
  role !== null && ROLES.indexOf(role) >= ROLES.indexOf(floor)

export const USER_ROLES = ['owner', 'admin', 'read_only'] as const
/** The role of a dashboard user. */
export type UserRole = (typeof USER_ROLES)[number]

export type SessionKind = 'dashboard' | 'operator' | 'mailbox'

/** A session as it is cached between requests. Times are milliseconds since 1970. */
export interface Session {
  readonly id: string
  readonly kind: SessionKind
  readonly csrfHash: string
  readonly ip: string
  readonly mfaSatisfied: boolean
  readonly idleMs: number
  readonly absoluteExpiry: number
  expiresAt: number
}

/** The owner and the rights of a credential; shared by all requests that carry it. */
export interface Identity {
  readonly kind: 'anonymous' | 'key' | 'user' | 'operator' | 'mailbox'
  /** Id of the key, dashboard user, operator or e-mail account; empty for anonymous. */
  readonly id: string
  readonly scope: Scope
  readonly organizationId: string | null
  readonly organizationName: string | null
  readonly email: string | null
  readonly role: Role | null
  readonly userRole: UserRole | null
  readonly readOnly: boolean
  readonly adminAccess: boolean
  /** Scopes of an API key; null when its rights apply to the whole API. */
  readonly scopes: readonly string[] | null
  /** The expiry of an API key, in milliseconds since 1970. */
  readonly expiresAt: number | null
  readonly session: Session | null
  /** The IP rules of the organization for this kind of credential. */
  readonly addressRules: readonly AddressRule[]
  /** The mailbox holder must set a new password before anything else. */
  readonly mustChangePassword: boolean
}

/** The identity behind one request. */
export interface Caller extends Identity {
  readonly ip: string
  readonly userAgent: string | null
  readonly correlationId: string
  /** Runs before this request changes something outside the database. */
  readonly atStart: (() => Promise<void>)[]
  /** Runs in the transaction of the change that this request makes, with the result of the change. */
  readonly atCommit: ((tx: Tx, result: unknown) => Promise<void>)[]
}

/**
 * The caller for one of several transactions of a request. The request counts as done with the last
 * one; after an earlier failure it can be sent again and finds the first changes done.
 */
export const partOf = (caller: Caller, isLast: boolean): Caller =>
  isLast ? caller : { ...caller, atCommit: [] }

export const anonymous: Identity = {
  kind: 'anonymous',
  id: '',
  scope: NOTHING,
  organizationId: null,
  organizationName: null,
  email: null,
  role: null,
  userRole: null,
  readOnly: true,
  adminAccess: false,
  scopes: null,
  expiresAt: null,
  session: null,
  addressRules: [],
  mustChangePassword: false,
}

export const isPlatform = (identity: Identity): boolean => identity.scope === 'platform'
