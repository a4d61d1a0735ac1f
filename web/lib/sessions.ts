import { type Client, client } from '../api/client.ts'

export type Kind = 'dashboard' | 'operator' | 'mailbox'

/** The path of the surface of each kind of session. */
export const HOMES: Record<Kind, string> = {
  dashboard: '/app',
  operator: '/console',
  mailbox: '/mailbox',
}

const CSRF_COOKIES: Record<Kind, string> = {
  dashboard: 'svc_csrf',
  operator: 'svc_operator_csrf',
  mailbox: 'svc_mailbox_csrf',
}

let ended: () => void = () => {}

/** Sets what happens when the server no longer knows the session of this page. */
export const onSessionEnd = (listener: () => void): void => {
  ended = listener
}

export const clientFor = (kind: Kind): Client =>
  client({ name: kind, csrfCookie: CSRF_COOKIES[kind], onEnd: () => ended() })

/** The sign-in page, with the way back to the current address. */
export const signInUrl = (kind: Kind): string => {
  const here = location.pathname + location.search
  const back = here === HOMES[kind] ? '' : `&next=${encodeURIComponent(here)}`
  return `/?as=${kind}${back}`
}

/** A way back is accepted only below the surface, so that no link leads to another site. */
export function wayBack(kind: Kind, next: string | null): string {
  const home = HOMES[kind]
  const isOwn = next === home || next?.startsWith(`${home}/`) || next?.startsWith(`${home}?`)
  return isOwn && next ? next : home
}
