import { InvalidMfaCode, SessionInvalid } from '../../../access/access.errors.ts'
import type { Caller } from '../../../access/caller.ts'
import { loginDimensions } from '../../../access/throttle.ts'
import type { Holder } from '../../../access/two-factor.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { loginData, UserTwoFactorDisabled, UserTwoFactorEnabled } from '../../users/users.events.ts'
import * as users from '../auth.repository.ts'
import {
  TwoFactorEnabled,
  TwoFactorNotBegun,
  TwoFactorNotEnabled,
  TwoFactorRequired,
} from './two-factor.errors.ts'

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'events' | 'now'>

export type UserTwoFactorService = ReturnType<typeof userTwoFactorService>

/** The second factor of a dashboard user, and the second step of a login. */
export function userTwoFactorService({ access, change, db, events, now }: Needs) {
  const holderOf = (caller: Caller): Holder => ({ kind: 'user', id: caller.id })
  const organizationOf = (caller: Caller) => caller.organizationId ?? ''

  const dataOf = (caller: Caller) => ({
    ...loginData({
      id: caller.id,
      email: caller.email ?? '',
      organization_id: organizationOf(caller),
    }),
    method: 'totp' as const,
  })

  /** Spends a code and makes the change in one transaction. Attempts are throttled as at the login. */
  async function withCode<Result>(
    caller: Caller,
    code: string,
    then: (tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    const dimensions = loginDimensions(caller.ip, caller.email ?? '')
    const spent = await access.throttle.attempt('api_mfa', dimensions, () =>
      change(caller, async (tx) => {
        if (!(await access.twoFactor.spend(tx, holderOf(caller), code))) return undefined
        return { result: await then(tx) }
      }),
    )
    if (!spent) throw new InvalidMfaCode()
    return spent.result
  }

  return {
    async status(caller: Caller) {
      const { enabled, pending, enabledAt, backupCodesLeft } = await access.twoFactor.status(
        db,
        holderOf(caller),
      )
      return {
        enabled,
        pending,
        required: await users.requiresTwoFactor(db, organizationOf(caller)),
        enabled_at: enabledAt,
        backup_codes_left: backupCodesLeft,
      }
    },

    /** A repeated call before confirmation replaces the pending secret. */
    setUp: (caller: Caller) =>
      change(caller, async (tx) => {
        const enrollment = await access.twoFactor.begin(tx, holderOf(caller), caller.email ?? '')
        if (!enrollment) throw new TwoFactorEnabled()
        return enrollment
      }),

    /** Confirms a pending second factor. A partial session becomes a full one with new tokens. */
    async verify(caller: Caller, code: string): Promise<string[]> {
      const { enabled, pending } = await access.twoFactor.status(db, holderOf(caller))
      if (!enabled && !pending) throw new TwoFactorNotBegun()
      const isPartial = caller.session?.mfaSatisfied === false
      if (enabled && !isPartial) throw new TwoFactorEnabled()
      const session = await withCode(caller, code, async (tx) => {
        if (!enabled) {
          await events.emit(
            tx,
            UserTwoFactorEnabled,
            { org_id: organizationOf(caller) },
            dataOf(caller),
          )
        }
        if (!isPartial) return undefined
        await users.setLastLogin(tx, caller.id, now())
        const promoted = await access.sessions.promote(tx, caller)
        // A concurrent request promoted or revoked this session.
        if (!promoted) throw new SessionInvalid()
        return promoted
      })
      await access.settled()
      return session ? access.sessions.cookies(session) : []
    },

    async disable(caller: Caller, code: string): Promise<void> {
      const { enabled } = await access.twoFactor.status(db, holderOf(caller))
      if (!enabled) throw new TwoFactorNotEnabled()
      if (await users.requiresTwoFactor(db, organizationOf(caller))) throw new TwoFactorRequired()
      await withCode(caller, code, async (tx) => {
        await access.twoFactor.reset(tx, holderOf(caller))
        await events.emit(
          tx,
          UserTwoFactorDisabled,
          { org_id: organizationOf(caller) },
          { ...dataOf(caller), disabled_by: 'user' },
        )
      })
    },
  }
}
