import { type Caller, isPlatform } from '../../access/caller.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './users.errors.ts'
import {
  loginData,
  PasswordResetRequested,
  UserSessionsRevoked,
  UserTwoFactorDisabled,
  userData,
  userSubject,
} from './users.events.ts'
import * as users from './users.repository.ts'
import { lockManaged, type Needs, organizationFor } from './users.service.ts'

export type UserAccessService = ReturnType<typeof userAccessService>

/** Passwords, second factors and sessions of dashboard users, for the people who manage them. */
export const userAccessService = (needs: Needs) => ({
  resetPassword: (caller: Caller, id: string) => resetPassword(needs, caller, id),
  resetTwoFactor: (caller: Caller, id: string) => resetTwoFactor(needs, caller, id),
  listSessions: (caller: Caller, id: string, page: Page) => listSessions(needs, caller, id, page),
  revokeSessions: (caller: Caller, id: string) => revokeSessions(needs, caller, id),
  revokeSession: (caller: Caller, id: string, sessionId: string) =>
    revokeSession(needs, caller, id, sessionId),
  policy: (caller: Caller, organizationId: string | undefined) =>
    policy(needs, caller, organizationId),
  setPolicy: (caller: Caller, sent: { require_two_factor: boolean; organization_id?: string }) =>
    setPolicy(needs, caller, sent),
})

/** The password stays valid until the link is used. */
async function resetPassword({ access, change, events }: Needs, caller: Caller, id: string) {
  const { expires_at, link } = await change(caller, async (tx) => {
    const user = await lockManaged(tx, caller, id)
    if (!user.has_joined) throw new errors.UserHasNotJoined()
    if (!user.is_active) throw new errors.UserIsDisabled()
    await events.emit(tx, PasswordResetRequested, userSubject(user), userData(user))
    return access.links.create(tx, { user_id: id }, 'password_reset')
  })
  return { user_id: id, expires_at, ...(isPlatform(caller) && { link }) }
}

async function resetTwoFactor({ access, change, events }: Needs, caller: Caller, id: string) {
  const result = await change(caller, async (tx) => {
    const user = await lockManaged(tx, caller, id)
    // With a code a user can disable the own one; a stolen session must not be enough.
    if (id === caller.id) throw new errors.OwnUser()
    const two_factor_cleared = await access.twoFactor.reset(tx, { kind: 'user', id })
    if (two_factor_cleared) {
      await events.emit(tx, UserTwoFactorDisabled, userSubject(user), {
        ...loginData(user),
        method: 'totp',
        disabled_by: 'admin',
      })
    }
    const sessions_revoked = await access.sessions.revokeAllOf(tx, 'dashboard', id)
    return { user_id: id, two_factor_cleared, sessions_revoked }
  })
  await access.settled()
  return result
}

async function listSessions({ db, now }: Needs, caller: Caller, id: string, page: Page) {
  if (!(await users.find(db, caller.scope, id, now()))) throw new errors.UserNotFound()
  const current = caller.session?.id ?? ''
  const { items, total } = await users.listSessions(db, id, current, page, now())
  return paginated(items, total, page)
}

async function revokeSessions({ access, change, events }: Needs, caller: Caller, id: string) {
  const revoked = await change(caller, async (tx) => {
    const user = await lockManaged(tx, caller, id)
    const ended = await access.sessions.revokeAllOf(tx, 'dashboard', id)
    const data = { ...userData(user), revoked: ended }
    if (ended > 0) await events.emit(tx, UserSessionsRevoked, userSubject(user), data)
    return ended
  })
  await access.settled()
  return { user_id: id, revoked }
}

async function revokeSession(needs: Needs, caller: Caller, id: string, sessionId: string) {
  const { access, change, events, now } = needs
  await change(caller, async (tx) => {
    if (!(await users.lock(tx, caller.scope, id))) throw new errors.UserNotFound()
    if (!(await users.findSession(tx, id, sessionId, now()))) throw new errors.UserSessionNotFound()
    const user = await lockManaged(tx, caller, id)
    await access.sessions.revoke(tx, sessionId)
    const data = { ...userData(user), revoked: 1 }
    await events.emit(tx, UserSessionsRevoked, userSubject(user), data)
  })
  await access.settled()
  return { user_id: id, revoked: 1 }
}

async function policy({ db }: Needs, caller: Caller, named: string | undefined) {
  const id = organizationFor(caller, named)
  const organization = await users.findOrganization(db, caller.scope, id)
  if (!organization) throw new OrganizationNotFound()
  return {
    organization_id: id,
    require_two_factor: organization.require_two_factor,
    users_without_two_factor: (await users.withoutTwoFactor(db, id)).length,
  }
}

/** Users without a second factor are signed out; at the next login they must set one up. */
async function setPolicy(
  needs: Needs,
  caller: Caller,
  sent: { require_two_factor: boolean; organization_id?: string },
) {
  const { access, change, db, now } = needs
  const id = organizationFor(caller, sent.organization_id)
  if (!(await users.findOrganization(db, caller.scope, id))) throw new OrganizationNotFound()
  await change(caller, async (tx) => {
    await users.setPolicy(tx, id, sent.require_two_factor, now())
    if (!sent.require_two_factor) return
    const affected = await users.withoutTwoFactor(tx, id)
    if (affected.includes(caller.id)) throw new errors.OwnSecondFactorMissing()
    for (const user of affected) await access.sessions.revokeAllOf(tx, 'dashboard', user)
  })
  await access.settled()
  return policy(needs, caller, id)
}
