import type { Tx } from '../database/database.ts'

/** Whose rows a caller may see: one organization's, or all of them for the platform. */
export type Scope = { readonly organization: string } | 'platform'

export const NOTHING: Scope = { organization: '' }

export const ROLES = ['support', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

export const atLeast = (role: Role | null, floor: Role): boolean =>
  role !== null && ROLES.indexOf(role) >= ROLES.indexOf(floor)

export type SessionKind = 'dashboard' | 'operator' | 'mailbox'

/** What is known of a session between requests. Times are milliseconds since 1970. */
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

/** Who a credential belongs to and what it may do; shared by all requests that carry it. */
export interface Identity {
  readonly kind: 'anonymous' | 'key' | 'user' | 'operator' | 'mailbox'
  /** Of the key, dashboard user, operator or email account; empty for nobody. */
  readonly id: string
  readonly scope: Scope
  readonly organizationId: string | null
  readonly organizationName: string | null
  readonly email: string | null
  readonly role: Role | null
  readonly readOnly: boolean
  readonly adminAccess: boolean
  /** When an API key ends, in milliseconds since 1970. */
  readonly expiresAt: number | null
  readonly session: Session | null
  /** A mailbox holder who has to choose a new password before anything else. */
  readonly mustChangePassword: boolean
}

/** The identity behind one request. */
export interface Caller extends Identity {
  readonly ip: string
  readonly userAgent: string | null
  readonly correlationId: string
  /** What must be stored together with the change this request makes. */
  readonly atCommit: ((tx: Tx) => Promise<void>)[]
}

/**
 * The caller of one of several changes that a request makes. The request has happened once the last
 * of them has: one that breaks off before may be sent again, and finds the earlier ones done.
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
  readOnly: true,
  adminAccess: false,
  expiresAt: null,
  session: null,
  mustChangePassword: false,
}

export const isPlatform = (identity: Identity): boolean => identity.scope === 'platform'
