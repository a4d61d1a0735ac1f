import { InvalidLogin } from '../../access/access.errors.ts'
import { type Caller, isPlatform } from '../../access/caller.ts'
import { loginDimensions } from '../../access/throttle.ts'
import type { Core } from '../../core.ts'
import { invalidField } from '../../errors.ts'
import { hashPassword, passwordMatches, passwordProblem } from '../../lib/passwords.ts'
import type { Manifest } from '../capabilities/manifest.ts'
import * as users from './auth.repository.ts'

interface Needs extends Pick<Core, 'access' | 'change' | 'db' | 'now'> {
  manifest(): Manifest
}

export type AuthService = ReturnType<typeof authService>

export function authService({ access, change, db, now, manifest }: Needs) {
  const verify = (caller: Caller, email: string, password: string) =>
    access.throttle.attempt('api', loginDimensions(caller.ip, email), async () => {
      const user = await users.findActiveUser(db, email)
      return (await passwordMatches(password, user?.password_hash)) ? user : undefined
    })

  return {
    async login(caller: Caller, body: { email: string; password: string }) {
      const user = await verify(caller, body.email.trim().toLowerCase(), body.password)
      if (!user) throw new InvalidLogin()
      const session = await change(caller, async (tx) => {
        await users.setLastLogin(tx, user.id, now())
        return access.sessions.open(tx, 'dashboard', user.id, caller)
      })
      const { id, email, role, organization_id, organization_name } = user
      return {
        cookies: access.sessions.cookies(session),
        data: {
          user: { id, email, role, organization_id },
          organization: { id: organization_id, name: organization_name },
          capabilities: manifest(),
        },
      }
    },

    me(caller: Caller) {
      const { kind, id, email, organizationId, organizationName } = caller
      const isPerson = kind === 'user' || kind === 'operator'
      const role = kind === 'operator' ? caller.role : 'admin'
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

    /** Ends a session; a key has none, so there is nothing to do for it. */
    async logout(caller: Caller): Promise<string[]> {
      const { session } = caller
      if (!session) return []
      await change(caller, (tx) => access.sessions.revoke(tx, session.id))
      await access.settled()
      return access.sessions.clearedCookies(session.kind)
    },

    /** Every other session ends: whoever else knew the old password is out. */
    async changePassword(caller: Caller, body: { current_password: string; new_password: string }) {
      const problem = passwordProblem(body.new_password)
      if (problem) throw invalidField('new_password', problem)
      const user = await verify(caller, caller.email ?? '', body.current_password)
      if (!user) throw new InvalidLogin()
      const passwordHash = await hashPassword(body.new_password)
      await change(caller, async (tx) => {
        await users.setPassword(tx, caller.id, passwordHash, now())
        await access.sessions.revokeAllOf(tx, 'dashboard', caller.id, caller.session?.id)
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
