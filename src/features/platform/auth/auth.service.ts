import { InvalidLogin, InvalidMfaCode, SessionInvalid } from '../../../access/access.errors.ts'
import { AlreadyBootstrapped } from '../../../access/bootstrap-tokens.ts'
import type { Caller, Role, SessionKind } from '../../../access/caller.ts'
import { loginDimensions } from '../../../access/throttle.ts'
import type { Core } from '../../../core.ts'
import { defineError, invalidField } from '../../../errors.ts'
import { passwordProblem } from '../../../lib/passwords.ts'
import { ulid } from '../../../lib/ulid.ts'
import { addDefaultRules, addEmailChannel } from '../alerts/rules/default-rules.ts'
import { OperatorPasswordChanged } from '../operators/operators.events.ts'
import { insert } from '../operators/operators.repository.ts'
import { listOwn } from '../sessions/sessions.repository.ts'
import { SessionNotFound } from '../sessions/sessions.service.ts'
import * as operators from './auth.repository.ts'

export const AlreadyEnrolled = defineError({
  status: 409,
  message: 'MFA is already enrolled; an owner must reset it first',
})

export const NotEnrolled = defineError({ status: 409, message: 'MFA is not enrolled' })

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'events' | 'now' | 'passwords'>

export type OperatorAuthService = ReturnType<typeof operatorAuthService>

export const operatorAuthService = ({ access, change, db, events, now, passwords }: Needs) => {
  const provePassword = async (caller: Caller, password: string) => {
    const email = caller.email ?? ''
    const operator = await access.throttle.attempt(
      'operator',
      loginDimensions(caller.ip, email),
      async () => {
        const found = await operators.findActive(db, email)
        const matches = await passwords.matches(password, found?.password_hash)
        return matches ? found : undefined
      },
    )
    if (!operator) throw new InvalidLogin()
  }

  const proveCode = async (caller: Caller, token: string) => {
    const dimensions = loginDimensions(caller.ip, caller.email ?? '')
    const verified = await access.throttle.attempt('operator_mfa', dimensions, async () =>
      (await access.twoFactor.spend(db, holderOf(caller), token)) ? true : undefined,
    )
    if (!verified) throw new InvalidMfaCode()
  }

  return {
    /** Creates the first operator with role owner, who gets the default alerts. Only one of two concurrent calls succeeds. */
    async bootstrap(caller: Caller, body: { email: string; full_name: string; password: string }) {
      const problem = passwordProblem(body.password)
      if (problem) throw invalidField('password', problem)
      const password_hash = await passwords.hash(body.password)
      const first = { id: ulid(), email: body.email.trim().toLowerCase(), role: 'owner' as const }
      await change(caller, async (tx) => {
        await operators.lockBootstrap(tx)
        if (await operators.anyOperator(tx)) throw new AlreadyBootstrapped('operator')
        await insert(tx, { ...first, full_name: body.full_name, password_hash, created_by: null })
        await access.bootstrap.spend(tx, 'operator')
        const channel = await addEmailChannel(tx, first.email, now())
        await addDefaultRules(tx, [channel.id], now())
      })
      access.bootstrap.removeFile('operator')
      return { operator_id: first.id, email: first.email, role: first.role }
    },

    /** First login step: opens a partial session that only permits the second step. */
    async login(caller: Caller, body: { email: string; password: string }) {
      const email = body.email.trim().toLowerCase()
      const operator = await access.throttle.attempt(
        'operator',
        loginDimensions(caller.ip, email),
        async () => {
          const candidate = await operators.findActive(db, email)
          const matches = await passwords.matches(body.password, candidate?.password_hash)
          return matches ? candidate : undefined
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

    /** A repeated call before confirmation replaces the pending secret. */
    async setUpMfa(caller: Caller) {
      return change(caller, async (tx) => {
        const enrollment = await access.twoFactor.begin(tx, holderOf(caller), caller.email ?? '')
        if (!enrollment) throw new AlreadyEnrolled()
        return enrollment
      })
    },

    /** Second login step: spends the code and issues new tokens for a full session. */
    async verifyMfa(caller: Caller, token: string) {
      await proveCode(caller, token)
      const session = await change(caller, async (tx) => {
        await operators.setLastLogin(tx, caller.id, now())
        return access.sessions.promote(tx, caller)
      })
      // A concurrent request promoted or revoked this session.
      if (!session) throw new SessionInvalid()
      await access.settled()
      return {
        cookies: access.sessions.cookies(session),
        data: {
          operator: { id: caller.id, email: caller.email ?? '', role: caller.role as Role },
        },
      }
    },

    /** Ends every other session, because another person may have used the old password. */
    async changePassword(caller: Caller, body: { current_password: string; new_password: string }) {
      const problem = passwordProblem(body.new_password)
      if (problem) throw invalidField('new_password', problem)
      const email = caller.email ?? ''
      await provePassword(caller, body.current_password)
      const password_hash = await passwords.hash(body.new_password)
      await change(caller, async (tx) => {
        await operators.setPassword(tx, caller.id, password_hash, now())
        await access.links.remove(tx, { operator_id: caller.id })
        const keep = caller.session?.id
        const sessions_revoked = await access.sessions.revokeAllOf(tx, 'operator', caller.id, keep)
        const data = { operator_id: caller.id, email, changed_by: 'operator', sessions_revoked }
        await events.emit(tx, OperatorPasswordChanged, { org_id: null }, data)
      })
      await access.settled()
    },

    /** Against a stolen session: the password or a current code is asked for again. */
    async renewBackupCodes(caller: Caller, body: { current_password?: string; token?: string }) {
      const { current_password, token } = body
      if ((current_password === undefined) === (token === undefined)) {
        throw invalidField('current_password', 'Send either current_password or token')
      }
      if (token !== undefined) await proveCode(caller, token)
      else await provePassword(caller, current_password ?? '')
      return change(caller, async (tx) => {
        const backup_codes = await access.twoFactor.renewBackupCodes(tx, holderOf(caller))
        if (!backup_codes) throw new NotEnrolled()
        return { backup_codes }
      })
    },

    async sessions(caller: Caller) {
      return { items: await listOwn(db, caller.id, caller.session?.id ?? '', now()) }
    },

    /** A session of another operator is not found. */
    async endSession(caller: Caller, id: string) {
      await change(caller, async (tx) => {
        const own = await listOwn(tx, caller.id, '', now())
        if (!own.some((one) => one.id === id)) throw new SessionNotFound()
        if (!(await access.sessions.revoke(tx, id))) throw new SessionNotFound()
      })
      await access.settled()
      return { session_id: id, revoked: 1 as const }
    },

    /** Ends a full or partial session. A platform key has no session to end. */
    async logout(caller: Caller, unusable: readonly SessionKind[]): Promise<string[]> {
      const { session } = caller
      if (!session) return unusable.flatMap((kind) => access.sessions.clearedCookies(kind))
      await change(caller, (tx) => access.sessions.revoke(tx, session.id))
      await access.settled()
      return access.sessions.clearedCookies('operator')
    },
  }
}

const holderOf = ({ id }: Caller) => ({ kind: 'operator' as const, id })
