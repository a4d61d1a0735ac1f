import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import type { Tx } from '../../../database/database.ts'
import { invalidField } from '../../../errors.ts'
import { throttleKey } from '../../../lib/ip.ts'
import { passwordProblem } from '../../../lib/passwords.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { OperatorPasswordChanged } from '../../platform/operators/operators.events.ts'
import {
  loginData,
  PasswordResetRequested,
  UserJoined,
  UserPasswordChanged,
  userData,
  userSubject,
} from '../../users/users.events.ts'
import * as users from '../auth.repository.ts'
import { AddressHasAccount, LinkInvalid } from './links.errors.ts'

/** Another mail to the same person within this time would only be a nuisance. */
const MAIL_INTERVAL_MS = 2 * MINUTE_MS
/** Longer than the work for an existing address, so that the response time reveals nothing. */
const ANSWER_MS = 250

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'events' | 'now' | 'passwords'>

type Link = NonNullable<Awaited<ReturnType<Core['access']['links']['find']>>>

export type LinkService = ReturnType<typeof linkService>

/** Invitations and password resets, from the side of the person who has the link. */
export const linkService = (needs: Needs) => ({
  async inspect(token: string) {
    const link = await found(needs, token)
    const { kind, email, full_name, organization_name, expires_at } = link
    return { kind, account: accountOf(link), email, full_name, organization_name, expires_at }
  },
  accept: (caller: Caller, sent: Acceptance) => accept(needs, caller, sent),
  requestReset: (caller: Caller, email: string) => requestReset(needs, caller, email),
})

interface Acceptance {
  token: string
  password: string
  full_name?: string
}

async function found({ access, db }: Needs, token: string): Promise<Link> {
  const link = await access.links.find(db, token)
  if (!link) throw new LinkInvalid()
  return link
}

const accountOf = (link: Link) =>
  link.user_id === null ? ('operator' as const) : ('user' as const)

/** Sets the password and ends every session. The link works once. */
async function accept(needs: Needs, caller: Caller, sent: Acceptance) {
  const { access, change, passwords } = needs
  const link = await found(needs, sent.token)
  const problem = passwordProblem(sent.password)
  if (problem) throw invalidField('password', problem)
  const passwordHash = await passwords.hash(sent.password)
  await refusing({ dashboard_users_email: () => new AddressHasAccount() }, () =>
    change(caller, async (tx) => {
      if (!(await access.links.spend(tx, link.id))) throw new LinkInvalid()
      if (link.user_id !== null) await acceptAsUser(needs, tx, link, passwordHash, sent.full_name)
      else await acceptAsOperator(needs, tx, link, passwordHash)
    }),
  )
  await access.settled()
  return { account: accountOf(link), email: link.email }
}

async function acceptAsUser(
  { access, events }: Needs,
  tx: Tx,
  link: Link,
  passwordHash: string,
  fullName: string | undefined,
): Promise<void> {
  const user = {
    id: link.user_id ?? '',
    email: link.email,
    organization_id: link.organization_id ?? '',
  }
  await access.links.setPassword(tx, { user_id: user.id }, passwordHash)
  if (fullName !== undefined) await users.setFullName(tx, user.id, fullName)
  const sessions_revoked = await access.sessions.revokeAllOf(tx, 'dashboard', user.id)
  await access.throttle.clear(tx, 'api', user.email)
  if (link.kind === 'invitation') {
    const role = link.user_role ?? 'read_only'
    await events.emit(tx, UserJoined, userSubject(user), { ...userData(user), role })
  } else {
    await events.emit(tx, UserPasswordChanged, userSubject(user), {
      ...loginData(user),
      changed_by: 'link',
      sessions_revoked,
    })
  }
}

async function acceptAsOperator(
  { access, events }: Needs,
  tx: Tx,
  link: Link,
  passwordHash: string,
): Promise<void> {
  const operator_id = link.operator_id ?? ''
  await access.links.setPassword(tx, { operator_id }, passwordHash)
  const sessions_revoked = await access.sessions.revokeAllOf(tx, 'operator', operator_id)
  await access.throttle.clear(tx, 'operator', link.email)
  await events.emit(
    tx,
    OperatorPasswordChanged,
    { org_id: null },
    { operator_id, email: link.email, changed_by: 'link', sessions_revoked },
  )
}

/** The answer is the same whether or not the address belongs to a user. */
async function requestReset(needs: Needs, caller: Caller, sent: string): Promise<void> {
  const from = [{ client_ip: throttleKey(caller.ip) }]
  await needs.access.throttle.attempt('password_reset', from, async () => undefined)
  await Promise.all([mailReset(needs, caller, sent.trim().toLowerCase()), sleep(ANSWER_MS)])
}

async function mailReset(
  { access, change, db, events, now }: Needs,
  caller: Caller,
  email: string,
) {
  const user = await users.findActiveUser(db, email)
  if (!user) return
  const last = await access.links.timeOf(db, { user_id: user.id })
  if (last && now().getTime() - Date.parse(last.created_at) < MAIL_INTERVAL_MS) return
  await change(caller, async (tx) => {
    await access.links.create(tx, { user_id: user.id }, 'password_reset')
    await events.emit(tx, PasswordResetRequested, userSubject(user), userData(user))
  })
}
