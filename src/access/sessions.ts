import type { Core } from '../core.ts'
import type { Db, Tx } from '../database/database.ts'
import { setCookie } from '../lib/cookies.ts'
import { randomToken, sha256 } from '../lib/tokens.ts'
import { ulid } from '../lib/ulid.ts'
import type { Caller, SessionKind } from './caller.ts'
import * as rows from './sessions.repository.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const lifetimes: Record<SessionKind, { idleSeconds: number; absoluteSeconds: number }> = {
  dashboard: { idleSeconds: 8 * HOUR, absoluteSeconds: 30 * DAY },
  operator: { idleSeconds: 4 * HOUR, absoluteSeconds: 12 * HOUR },
  mailbox: { idleSeconds: 8 * HOUR, absoluteSeconds: 7 * DAY },
}
/** How long somebody who knows the password may take to present the second factor. */
const PARTIAL_SECONDS = 10 * MINUTE

export const COOKIES: Record<SessionKind, { session: string; csrf: string }> = {
  dashboard: { session: 'svc_session', csrf: 'svc_csrf' },
  operator: { session: 'svc_operator_session', csrf: 'svc_operator_csrf' },
  mailbox: { session: 'svc_mailbox_session', csrf: 'svc_mailbox_csrf' },
}

/** The secrets of a session, known once: to the browser that gets them as cookies. */
export interface OpenedSession {
  id: string
  kind: SessionKind
  token: string
  csrfToken: string
  idleSeconds: number
  absoluteExpiry: Date
}

export type Sessions = ReturnType<typeof sessions>

export function sessions({ now, config }: Pick<Core, 'now' | 'config'>) {
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000)

  return {
    async open(
      tx: Tx,
      kind: SessionKind,
      subjectId: string,
      caller: Caller,
      more: { partial?: boolean; clientPlatform?: string | null } = {},
    ): Promise<OpenedSession> {
      const { idleSeconds, absoluteSeconds } = lifetimes[kind]
      const partial = more.partial ?? false
      const opened: OpenedSession = {
        id: ulid(),
        kind,
        token: randomToken(),
        csrfToken: randomToken(),
        idleSeconds,
        absoluteExpiry: inSeconds(absoluteSeconds),
      }
      await rows.insertSession(tx, {
        id: opened.id,
        kind,
        subjectId,
        tokenHash: sha256(opened.token),
        csrfHash: sha256(opened.csrfToken),
        ip: caller.ip,
        userAgent: caller.userAgent,
        clientPlatform: more.clientPlatform ?? null,
        mfaSatisfied: !partial,
        idleSeconds,
        expiresAt: inSeconds(partial ? PARTIAL_SECONDS : idleSeconds),
        absoluteExpiry: opened.absoluteExpiry,
        createdAt: now(),
      })
      return opened
    },

    /** New tokens with the second factor: what was known before it is worth nothing after. */
    async promote(tx: Tx, caller: Caller): Promise<OpenedSession | undefined> {
      const session = caller.session
      if (!session) return undefined
      const { idleSeconds } = lifetimes[session.kind]
      const token = randomToken()
      const csrfToken = randomToken()
      const promoted = await rows.promoteSession(
        tx,
        session.id,
        sha256(token),
        sha256(csrfToken),
        inSeconds(idleSeconds),
      )
      if (!promoted) return undefined
      return {
        id: session.id,
        kind: session.kind,
        token,
        csrfToken,
        idleSeconds,
        absoluteExpiry: new Date(session.absoluteExpiry),
      }
    },

    revoke: (db: Db, id: string) => rows.revokeSession(db, id, now()),

    revokeAllOf: (db: Db, kind: SessionKind, subjectId: string, keepId?: string) =>
      rows.revokeSessionsOf(db, kind, subjectId, now(), keepId),

    /** The pair of cookies: one for the browser alone, one that scripts echo as X-CSRF-Token. */
    cookies({ kind, token, csrfToken, absoluteExpiry }: OpenedSession): string[] {
      const secure = config.SVC_COOKIE_SECURE
      // Rounded up: the browser may keep a cookie for a moment too long, never too short.
      const maxAgeSeconds = Math.ceil((absoluteExpiry.getTime() - now().getTime()) / 1000)
      return [
        setCookie(COOKIES[kind].session, token, { httpOnly: true, secure, maxAgeSeconds }),
        setCookie(COOKIES[kind].csrf, csrfToken, { httpOnly: false, secure, maxAgeSeconds }),
      ]
    },

    clearedCookies(kind: SessionKind): string[] {
      const secure = config.SVC_COOKIE_SECURE
      return [
        setCookie(COOKIES[kind].session, '', { httpOnly: true, secure, maxAgeSeconds: 0 }),
        setCookie(COOKIES[kind].csrf, '', { httpOnly: false, secure, maxAgeSeconds: 0 }),
      ]
    },
  }
}
