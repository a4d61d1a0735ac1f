import { AddressNotAllowed, InvalidLogin } from '../../access/access.errors.ts'
import { findAddressRules } from '../../access/address-rules.repository.ts'
import { type Caller, isPlatform, type SessionKind } from '../../access/caller.ts'
import { loginDimensions } from '../../access/throttle.ts'
import type { Core } from '../../core.ts'
import { invalidField } from '../../errors.ts'
import { refusedByRules } from '../../lib/address-rules.ts'
import { passwordProblem } from '../../lib/passwords.ts'
import type { Manifest } from '../capabilities/manifest.ts'
import { loginData, UserPasswordChanged } from '../users/users.events.ts'
import * as users from './auth.repository.ts'

interface Needs extends Pick<Core, 'access' | 'change' | 'db' | 'events' | 'now' | 'passwords'> {
  manifest(): Manifest
}

export type AuthService = ReturnType<typeof authService>

export function authService({ access, change, db, events, now, passwords, manifest }: Needs) {
  const verify = (caller: Caller, email: string, password: string) =>
    access.throttle.attempt('api', loginDimensions(caller.ip, email), async () => {
      const user = await users.findActiveUser(db, email)
      return (await passwords.matches(password, user?.password_hash)) ? user : undefined
    })

  return {
    /** Without the second factor the session is partial: it only permits to give one. */
    async login(caller: Caller, body: { email: string; password: string }) {
      const user = await verify(caller, body.email.trim().toLowerCase(), body.password)
      if (!user) throw new InvalidLogin()
      const rules = await findAddressRules(db, user.organization_id, 'api')
      if (refusedByRules(rules, caller.ip)) throw new AddressNotAllowed(caller.ip)
      const enrolled = await access.twoFactor.isEnrolled(db, { kind: 'user', id: user.id })
      const partial = enrolled || user.require_two_factor
      const session = await change(caller, async (tx) => {
        if (!partial) await users.setLastLogin(tx, user.id, now())
        return access.sessions.open(tx, 'dashboard', user.id, caller, { partial })
      })
      const { id, email, role, organization_id, organization_name } = user
      return {
        cookies: access.sessions.cookies(session),
        data: {
          user: { id, email, role, organization_id },
          organization: { id: organization_id, name: organization_name },
          capabilities: manifest(),
          two_factor_required: partial,
          two_factor_enrolled: enrolled,
        },
      }
    },

    me(caller: Caller) {
      const { kind, id, email, organizationId, organizationName } = caller
      const isPerson = kind === 'user' || kind === 'operator'
      const role = kind === 'operator' ? caller.role : caller.userRole
      return {
        user: isPerson
          ? { id, email: email ?? '', role: role ?? '', organization_id: organizationId }
          : null,
        organization:
          organizationId === null || organizationName === null || (isPlatform(caller) && isPerson)
            ? null
            : { id: organizationId, name: organizationName },
        capabilities: manifest(),
        auth_method: kind === 'key' ? ('api_key' as const) : ('session' as const),
      }
    },

    /** Ends the session; does nothing for an API key, which has none. Clears `unusable` cookies too. */
    async logout(caller: Caller, unusable: readonly SessionKind[]): Promise<string[]> {
      const { session } = caller
      const cleared = unusable.flatMap((kind) => access.sessions.clearedCookies(kind))
      if (!session) return cleared
      await change(caller, (tx) => access.sessions.revoke(tx, session.id))
      await access.settled()
      return [...access.sessions.clearedCookies(session.kind), ...cleared]
    },

    /** Ends every other session, because another person may have used the old password. */
    async changePassword(caller: Caller, body: { current_password: string; new_password: string }) {
      const problem = passwordProblem(body.new_password)
      if (problem) throw invalidField('new_password', problem)
      const user = await verify(caller, caller.email ?? '', body.current_password)
      if (!user) throw new InvalidLogin()
      const passwordHash = await passwords.hash(body.new_password)
      await change(caller, async (tx) => {
        await users.setPassword(tx, caller.id, passwordHash, now())
        await access.links.remove(tx, { user_id: caller.id })
        const keep = caller.session?.id
        const revoked = await access.sessions.revokeAllOf(tx, 'dashboard', caller.id, keep)
        await events.emit(
          tx,
          UserPasswordChanged,
          { org_id: user.organization_id },
          { ...loginData(user), changed_by: 'user', sessions_revoked: revoked },
        )
      })
      await access.settled()
    },

    async revokeAll(caller: Caller): Promise<string[]> {
      await change(caller, (tx) => access.sessions.revokeAllOf(tx, 'dashboard', caller.id))
      await access.settled()
      return access.sessions.clearedCookies('dashboard')
    },
  }
}
