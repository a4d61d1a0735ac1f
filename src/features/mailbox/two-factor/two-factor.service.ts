import type { Caller } from '../../../access/caller.ts'
import { loginDimensions } from '../../../access/throttle.ts'
import type { Holder } from '../../../access/two-factor.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import {
  InvalidTwoFactorCode,
  TwoFactorEnabled,
  TwoFactorNotBegun,
  TwoFactorNotEnabled,
} from './two-factor.errors.ts'

type Needs = Pick<Core, 'access' | 'change' | 'db'>

export type TwoFactorService = ReturnType<typeof twoFactorService>

/** The second factor of a mailbox holder, required from the next login on. */
export function twoFactorService({ access, change, db }: Needs) {
  const holderOf = (caller: Caller): Holder => ({ kind: 'mailbox', id: caller.id })

  /** Requires a correct code. Attempts are throttled as at the login. */
  async function withCode(
    caller: Caller,
    code: string,
    then: (tx: Tx) => Promise<unknown> = async () => {},
  ): Promise<void> {
    const right = await access.throttle.attempt(
      'webmail',
      loginDimensions(caller.ip, caller.email ?? ''),
      () =>
        change(caller, async (tx) => {
          if (!(await access.twoFactor.spend(tx, holderOf(caller), code))) return undefined
          await then(tx)
          return true
        }),
    )
    if (!right) throw new InvalidTwoFactorCode()
  }

  return {
    async status(caller: Caller) {
      const { enabled, pending, enabledAt, backupCodesLeft } = await access.twoFactor.status(
        db,
        holderOf(caller),
      )
      return { enabled, pending, enabled_at: enabledAt, backup_codes_left: backupCodesLeft }
    },

    /** A second call before confirmation replaces the pending secret. */
    setUp: (caller: Caller) =>
      change(caller, async (tx) => {
        const enrollment = await access.twoFactor.begin(tx, holderOf(caller), caller.email ?? '')
        if (!enrollment) throw new TwoFactorEnabled()
        return enrollment
      }),

    async confirm(caller: Caller, code: string) {
      const { enabled, pending } = await access.twoFactor.status(db, holderOf(caller))
      if (enabled) throw new TwoFactorEnabled()
      if (!pending) throw new TwoFactorNotBegun()
      await withCode(caller, code)
    },

    async disable(caller: Caller, code: string) {
      const { enabled } = await access.twoFactor.status(db, holderOf(caller))
      if (!enabled) throw new TwoFactorNotEnabled()
      await withCode(caller, code, (tx) => access.twoFactor.reset(tx, holderOf(caller)))
    },
  }
}
