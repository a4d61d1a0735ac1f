import { InvalidLogin, InvalidMfaCode, SessionInvalid } from '../../../access/access.errors.ts'
import { AlreadyBootstrapped } from '../../../access/bootstrap-tokens.ts'
import type { Caller, Role } from '../../../access/caller.ts'
import { loginDimensions } from '../../../access/throttle.ts'
import type { Core } from '../../../core.ts'
import { defineError, invalidField } from '../../../errors.ts'
import { hashPassword, passwordMatches, passwordProblem } from '../../../lib/passwords.ts'
import { ulid } from '../../../lib/ulid.ts'
import { tellBootstrapped } from '../../bootstrap/bootstrap.repository.ts'
import { insert } from '../operators/operators.repository.ts'
import * as operators from './auth.repository.ts'

export const AlreadyEnrolled = defineError({
  status: 409,
  message: 'MFA is already enrolled; an owner must reset it first',
})

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'now'>

export type OperatorAuthService = ReturnType<typeof operatorAuthService>

export const operatorAuthService = ({ access, change, db, now }: Needs) => ({
  /** The first operator, an owner; the second caller of two finds that there is one. */
  async bootstrap(caller: Caller, body: { email: string; full_name: string; password: string }) {
    const problem = passwordProblem(body.password)
    if (problem) throw invalidField('password', problem)
    const password_hash = await hashPassword(body.password)
    const first = { id: ulid(), email: body.email.trim().toLowerCase(), role: 'owner' as const }
    await change(caller, async (tx) => {
      await operators.lockBootstrap(tx)
      if (await operators.anyOperator(tx)) throw new AlreadyBootstrapped('operator')
      await insert(tx, { ...first, full_name: body.full_name, password_hash, created_by: null })
      await access.bootstrap.spend(tx, 'operator')
      await tellBootstrapped(tx, 'operator')
    })
    access.bootstrap.removeFile('operator')
    return { operator_id: first.id, email: first.email, role: first.role }
  },

  /** The first step: a session that opens nothing but the second. */
  async login(caller: Caller, body: { email: string; password: string }) {
    const email = body.email.trim().toLowerCase()
    const operator = await access.throttle.attempt(
      'operator',
      loginDimensions(caller.ip, email),
      async () => {
        const found = await operators.findActive(db, email)
        return (await passwordMatches(body.password, found?.password_hash)) ? found : undefined
      },
    )
    if (!operator) throw new InvalidLogin()
    const { id, role } = operator
    const session = await change(caller, (tx) =>
      access.sessions.open(tx, 'operator', id, caller, { partial: true }),
    )
    return {
      cookies: access.sessions.cookies(session),
      data: {
        operator: { id, email, role },
        mfa_required: true,
        mfa_enrolled: await access.twoFactor.isEnrolled(db, { kind: 'operator', id }),
      },
    }
  },

  /** Repeated before confirmation, it replaces the pending secret. */
  async setUpMfa(caller: Caller) {
    const holder = { kind: 'operator' as const, id: caller.id }
    return change(caller, async (tx) => {
      const enrollment = await access.twoFactor.begin(tx, holder, caller.email ?? '')
      if (!enrollment) throw new AlreadyEnrolled()
      return enrollment
    })
  },

  /** The second step: spends the code, and gives the session new tokens with its full rights. */
  async verifyMfa(caller: Caller, token: string) {
    const holder = { kind: 'operator' as const, id: caller.id }
    const dimensions = loginDimensions(caller.ip, caller.email ?? '')
    const verified = await access.throttle.attempt('operator_mfa', dimensions, async () =>
      (await access.twoFactor.spend(db, holder, token)) ? true : undefined,
    )
    if (!verified) throw new InvalidMfaCode()
    const session = await change(caller, async (tx) => {
      await operators.setLastLogin(tx, caller.id, now())
      return access.sessions.promote(tx, caller)
    })
    // Somebody else finished or ended this very session in the meantime.
    if (!session) throw new SessionInvalid()
    await access.settled()
    return {
      cookies: access.sessions.cookies(session),
      data: {
        operator: { id: caller.id, email: caller.email ?? '', role: caller.role as Role },
      },
    }
  },

  /** In any state of the session; a platform key has none to end. */
  async logout(caller: Caller): Promise<string[]> {
    const { session } = caller
    if (!session) return []
    await change(caller, (tx) => access.sessions.revoke(tx, session.id))
    await access.settled()
    return access.sessions.clearedCookies('operator')
  },
})
