import type { Role } from './caller.ts'

/** The auth label of a route, named as in the API description. */
export type Auth =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly permission: 'read' | 'write' | 'admin' }
  | { readonly kind: 'platform'; readonly partialToo: boolean; readonly endedToo: boolean }
  | { readonly kind: 'operator'; readonly role: Role }
  | { readonly kind: 'key-or-session'; readonly partialToo: boolean; readonly endedToo: boolean }
  | { readonly kind: 'dashboard-session'; readonly partialToo: boolean }
  | {
      readonly kind: 'mailbox-session'
      readonly endedToo: boolean
      readonly oldPasswordToo: boolean
    }
  | { readonly kind: 'bootstrap-token'; readonly of: 'organization' | 'operator' }
  | { readonly kind: 'partial-operator' }
  | { readonly kind: 'internal' }
  | { readonly kind: 'mail-program' }

/** Public. */
export const none = (): Auth => ({ kind: 'none' })
/** An API key with that permission or a dashboard session; platform callers see every tenant. */
export const key = (permission: 'read' | 'write' | 'admin'): Auth => ({ kind: 'key', permission })
/**
 * A platform key or an operator session; `partialToo` admits one before its second factor,
 * `endedToo` one that has ended, so that a logout clears its cookies.
 */
export const platform = (more: { partialToo?: boolean; endedToo?: boolean } = {}): Auth => ({
  kind: 'platform',
  partialToo: more.partialToo ?? false,
  endedToo: more.endedToo ?? false,
})
/** An operator session with its second factor, at this role or above. */
export const operator = (role: Role): Auth => ({ kind: 'operator', role })
/** Any key or session except a mailbox session; `partialToo` and `endedToo` as in `platform`. */
export const keyOrSession = (more: { partialToo?: boolean; endedToo?: boolean } = {}): Auth => ({
  kind: 'key-or-session',
  partialToo: more.partialToo ?? false,
  endedToo: more.endedToo ?? false,
})
/** `partialToo` admits a session before its second factor. */
export const dashboardSession = (more: { partialToo?: boolean } = {}): Auth => ({
  kind: 'dashboard-session',
  partialToo: more.partialToo ?? false,
})
/**
 * `endedToo` admits a session that has ended, so that a logout can be repeated;
 * `oldPasswordToo` admits a session whose holder must set a new password first.
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
/** Another service of the installation, with the shared token. */
export const internal = (): Auth => ({ kind: 'internal' })
/**
 * A mailbox holder: by the session of the web app, which is checked here, or by Basic or Bearer
 * credentials of a program, which the route checks with `mailLogins`.
 */
export const mailProgram = (): Auth => ({ kind: 'mail-program' })

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
      return 'Internal token'
    case 'mail-program':
      return 'Mailbox session, Basic or Bearer'
  }
}

/** Returns whether the route belongs to the operator console; all requests to it are audited. */
export const isConsole = (auth: Auth): boolean =>
  auth.kind === 'platform' ||
  auth.kind === 'operator' ||
  auth.kind === 'partial-operator' ||
  (auth.kind === 'bootstrap-token' && auth.of === 'operator')
