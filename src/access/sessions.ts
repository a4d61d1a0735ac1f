import { fastifyCookie } from '@fastify/cookie'
import type { Core } from '../core.ts'
import type { Db, Tx } from '../database/database.ts'
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../lib/time.ts'
import { randomToken, sha256 } from '../lib/tokens.ts'
import { ulid } from '../lib/ulid.ts'
import type { Caller, SessionKind } from './caller.ts'
import * as rows from './sessions.repository.ts'

const lifetimes: Record<SessionKind, { idleSeconds: number; absoluteSeconds: number }> = {
  dashboard: { idleSeconds: 8 * HOUR_SECONDS, absoluteSeconds: 30 * DAY_SECONDS },
  operator: { idleSeconds: 4 * HOUR_SECONDS, absoluteSeconds: 12 * HOUR_SECONDS },
  mailbox: { idleSeconds: 8 * HOUR_SECONDS, absoluteSeconds: 7 * DAY_SECONDS },
}
/** Time between the password and the second factor. */
const PARTIAL_SECONDS = 10 * MINUTE_SECONDS

export const COOKIES: Record<SessionKind, { session: string; csrf: string }> = {
  dashboard: { session: 'svc_session', csrf: 'svc_csrf' },
  operator: { session: 'svc_operator_session', csrf: 'svc_operator_csrf' },
  mailbox: { session: 'svc_mailbox_session', csrf: 'svc_mailbox_csrf' },
}

/** The secrets of a session; only the browser gets them, as cookies. */
interface OpenedSession {
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

    /** Replaces both tokens with the second factor, so that the earlier ones become useless. */
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

    /** Two cookies: one is hidden from scripts, the other is repeated as X-CSRF-Token. */
    cookies({ kind, token, csrfToken, absoluteExpiry }: OpenedSession): string[] {
      // Rounded up: the browser may keep a cookie for a moment too long, never too short.
      const maxAge = Math.ceil((absoluteExpiry.getTime() - now().getTime()) / 1000)
      return cookiePair(kind, token, csrfToken, { maxAge, secure: config.SVC_COOKIE_SECURE })
    },

    clearedCookies: (kind: SessionKind): string[] =>
      cookiePair(kind, '', '', { maxAge: 0, secure: config.SVC_COOKIE_SECURE }),
  }
}

function cookiePair(
  kind: SessionKind,
  token: string,
  csrfToken: string,
  options: { maxAge: number; secure: boolean },
): string[] {
  const attributes = { ...options, path: '/', sameSite: 'lax' } as const
  return [
    fastifyCookie.serialize(COOKIES[kind].session, token, { ...attributes, httpOnly: true }),
    fastifyCookie.serialize(COOKIES[kind].csrf, csrfToken, attributes),
  ]
}
