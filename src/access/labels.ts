import type { Role } from './caller.ts'

/** What a route demands of its caller, in the words of the API description. */
export type Auth =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly permission: 'read' | 'write' | 'admin' }
  | { readonly kind: 'platform'; readonly partialToo: boolean }
  | { readonly kind: 'operator'; readonly role: Role }
  | { readonly kind: 'key-or-session' }
  | { readonly kind: 'dashboard-session' }
  | {
      readonly kind: 'mailbox-session'
      readonly endedToo: boolean
      readonly oldPasswordToo: boolean
    }
  | { readonly kind: 'bootstrap-token'; readonly of: 'organization' | 'operator' }
  | { readonly kind: 'partial-operator' }
  | { readonly kind: 'internal' }

/** Public. */
export const none = (): Auth => ({ kind: 'none' })
/** An API key with that permission, or a dashboard session; platform callers over every tenant. */
export const key = (permission: 'read' | 'write' | 'admin'): Auth => ({ kind: 'key', permission })
/** A platform key or an operator session; `partialToo` lets one in before its second factor. */
export const platform = (more: { partialToo?: boolean } = {}): Auth => ({
  kind: 'platform',
  partialToo: more.partialToo ?? false,
})
/** An operator session with its second factor, at this role or above. */
export const operator = (role: Role): Auth => ({ kind: 'operator', role })
/** Any key or session but a mailbox holder's. */
export const keyOrSession = (): Auth => ({ kind: 'key-or-session' })
export const dashboardSession = (): Auth => ({ kind: 'dashboard-session' })
/**
 * `endedToo` lets in a session that is already over, for a logout that may be repeated;
 * `oldPasswordToo` one whose holder must choose a new password first.
 */
export const mailboxSession = (
  more: { endedToo?: boolean; oldPasswordToo?: boolean } = {},
): Auth => ({
  kind: 'mailbox-session',
  oldPasswordToo: more.oldPasswordToo ?? false,
  endedToo: more.endedToo ?? false,
})
export const bootstrapToken = (of: 'organization' | 'operator'): Auth => ({
  kind: 'bootstrap-token',
  of,
})
/** An operator session that still lacks its second factor. */
export const partialOperator = (): Auth => ({ kind: 'partial-operator' })

/** Another service of this installation, by `SVC_INTERNAL_TOKEN`. */
export const internal = (): Auth => ({ kind: 'internal' })

export function describeAuth(auth: Auth): string {
  switch (auth.kind) {
    case 'none':
      return 'None'
    case 'key':
      return `Key(${auth.permission})`
    case 'platform':
      return 'Platform(read)'
    case 'operator':
      return `Operator(${auth.role}+)`
    case 'key-or-session':
      return 'Key or session'
    case 'dashboard-session':
      return 'Dashboard session'
    case 'mailbox-session':
      return 'Mailbox session'
    case 'bootstrap-token':
      return 'X-Bootstrap-Token'
    case 'partial-operator':
      return 'Operator session (partial)'
    case 'internal':
      return 'Service credential'
  }
}

/** Requests to these routes are the operators' side: all of them are audited. */
export const isConsole = (auth: Auth): boolean =>
  auth.kind === 'platform' ||
  auth.kind === 'operator' ||
  auth.kind === 'partial-operator' ||
  (auth.kind === 'bootstrap-token' && auth.of === 'operator')
