import { type Caller, isPlatform, type UserRole } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { NoDataProvided } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { ulid } from '../../lib/ulid.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './users.errors.ts'
import { UserDeleted, UserInvited, UserUpdated, userData, userSubject } from './users.events.ts'
import * as users from './users.repository.ts'

/** Each invitation sends mail to an address that the inviting person chose. */
const MAX_INVITED = 50
const MAX_NAME = 255

interface NewUser {
  email: string
  full_name?: string
  role?: UserRole
  organization_id?: string
}

interface Change {
  full_name?: string | null
  role?: UserRole
  is_active?: boolean
}

export type Needs = Pick<Core, 'access' | 'change' | 'db' | 'events' | 'now'>

export type UserService = ReturnType<typeof userService>

/** The people who sign in to the dashboard of an organization. */
export const userService = (needs: Needs) => ({
  list: (
    caller: Caller,
    organizationId: string | undefined,
    filter: users.UserFilter,
    page: Page,
  ) => list(needs, caller, organizationId, filter, page),
  get: (caller: Caller, id: string) => get(needs, caller, id),
  invite: (caller: Caller, sent: NewUser) => invite(needs, caller, sent),
  inviteOwner: (tx: Tx, organizationId: string, email: string, fullName: string | null) =>
    inviteOwner(needs, tx, organizationId, email, fullName),
  inviteAgain: (caller: Caller, id: string) => inviteAgain(needs, caller, id),
  update: (caller: Caller, id: string, fields: Change) => update(needs, caller, id, fields),
  remove: (caller: Caller, id: string) => remove(needs, caller, id),
})

async function list(
  { db, now }: Needs,
  caller: Caller,
  organizationId: string | undefined,
  filter: users.UserFilter,
  page: Page,
) {
  const scope = narrowed(caller.scope, organizationId)
  const { items, total } = await users.list(db, scope, filter, page, now())
  return paginated(items, total, page)
}

async function get({ db, now }: Needs, caller: Caller, id: string) {
  const user = await users.find(db, caller.scope, id, now())
  if (!user) throw new errors.UserNotFound()
  return user
}

async function invite(needs: Needs, caller: Caller, sent: NewUser) {
  const { change, db } = needs
  const organizationId = organizationFor(caller, sent.organization_id)
  const role = sent.role ?? 'admin'
  if (!(await users.findOrganization(db, caller.scope, organizationId))) {
    throw new OrganizationNotFound()
  }
  refuseOwnersOfOthers(caller, role)
  const email = sent.email.trim().toLowerCase()
  const { id, link } = await change(caller, async (tx) => {
    await users.lockOrganization(tx, organizationId)
    if ((await users.countInvited(tx, organizationId)) >= MAX_INVITED) {
      throw new errors.TooManyInvitations({ limit: MAX_INVITED })
    }
    const user = { organization_id: organizationId, email, full_name: sent.full_name ?? null, role }
    const invited = await insertInvited(needs, tx, user)
    if (!invited) throw new errors.UserAlreadyInvited()
    return invited
  })
  return { ...(await get(needs, caller, id)), ...(isPlatform(caller) && { link }) }
}

/** The administrator named with a new organization. Does nothing when that person is a user of it. */
async function inviteOwner(
  needs: Needs,
  tx: Tx,
  organization_id: string,
  email: string,
  full_name: string | null,
): Promise<void> {
  const user = {
    organization_id,
    email: email.trim().toLowerCase(),
    full_name: full_name?.trim().slice(0, MAX_NAME) || null,
  }
  await insertInvited(needs, tx, { ...user, role: 'owner' })
}

async function insertInvited(
  { access, events }: Needs,
  tx: Tx,
  user: { organization_id: string; email: string; full_name: string | null; role: UserRole },
) {
  const row = await users.insert(tx, { id: ulid(), ...user })
  if (!row) return undefined
  const { link } = await access.links.create(tx, { user_id: row.id }, 'invitation')
  await events.emit(tx, UserInvited, userSubject(row), { ...userData(row), role: row.role })
  return { id: row.id, link }
}

/** A new link replaces the earlier one. */
async function inviteAgain(needs: Needs, caller: Caller, id: string) {
  const { access, change, events } = needs
  const { expires_at, link } = await change(caller, async (tx) => {
    const user = await lockManaged(tx, caller, id)
    if (user.has_joined) throw new errors.UserHasJoined()
    if (!user.is_active) throw new errors.UserIsDisabled()
    await events.emit(tx, UserInvited, userSubject(user), { ...userData(user), role: user.role })
    return access.links.create(tx, { user_id: id }, 'invitation')
  })
  return { user_id: id, expires_at, ...(isPlatform(caller) && { link }) }
}

/** Disabling ends the sessions and the open link. A new role applies from the next request on. */
async function update(needs: Needs, caller: Caller, id: string, fields: Change) {
  const { access, change, events, now } = needs
  const names = Object.keys(fields)
  if (names.length === 0) throw new NoDataProvided()
  const affectsAccess = fields.role !== undefined || fields.is_active !== undefined
  await change(caller, async (tx) => {
    const user = await lockManaged(tx, caller, id)
    if (affectsAccess && id === caller.id) throw new errors.OwnUser()
    if (fields.role !== undefined) refuseOwnersOfOthers(caller, fields.role)
    const staysOwner = (fields.role ?? user.role) === 'owner' && fields.is_active !== false
    if (!staysOwner) await keepAnOwner(tx, caller, user)
    const row = await users.update(tx, id, fields, now())
    if (fields.is_active === false) {
      await access.sessions.revokeAllOf(tx, 'dashboard', id)
      await access.links.remove(tx, { user_id: id })
    }
    await events.emit(tx, UserUpdated, userSubject(row), {
      ...userData(row),
      role: row.role,
      is_active: row.is_active,
      updated_fields: names,
    })
  })
  await access.settled()
  return get(needs, caller, id)
}

async function remove({ access, change, events }: Needs, caller: Caller, id: string) {
  await change(caller, async (tx) => {
    const user = await lockManaged(tx, caller, id)
    if (id === caller.id) throw new errors.OwnUser()
    await keepAnOwner(tx, caller, user)
    await users.remove(tx, id)
    await events.emit(tx, UserDeleted, userSubject(user), userData(user))
  })
  await access.settled()
}

/** Locks a user whom the caller may manage. */
export async function lockManaged(tx: Tx, caller: Caller, id: string): Promise<users.LockedUser> {
  const user = await users.lock(tx, caller.scope, id)
  if (!user) throw new errors.UserNotFound()
  // People may always manage their own sessions and second factor.
  if (id !== caller.id) refuseOwnersOfOthers(caller, user.role)
  return user
}

/** Operators and owners manage owners. Administrators and keys would otherwise promote themselves. */
function refuseOwnersOfOthers(caller: Caller, role: UserRole): void {
  if (role !== 'owner' || isPlatform(caller) || caller.userRole === 'owner') return
  throw new errors.OwnersManageOwners()
}

/** Only an operator can leave an organization without an owner. */
async function keepAnOwner(tx: Tx, caller: Caller, user: users.LockedUser): Promise<void> {
  if (user.role !== 'owner' || !user.has_joined || isPlatform(caller)) return
  await users.lockOrganization(tx, user.organization_id)
  if ((await users.otherOwners(tx, user.organization_id, user.id)).length === 0) {
    throw new errors.LastOwner()
  }
}

/** A tenant acts for its own organization, a platform caller names one. */
export function organizationFor(caller: Caller, named: string | undefined): string {
  const organizationId = isPlatform(caller) ? named : caller.organizationId
  if (!organizationId) throw new errors.OrganizationRequired()
  return organizationId
}
