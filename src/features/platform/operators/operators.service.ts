import { InsufficientRole } from '../../../access/access.errors.ts'
import type { Caller, Role } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import type { Tx } from '../../../database/database.ts'
import { invalidField } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { passwordProblem } from '../../../lib/passwords.ts'
import { ulid } from '../../../lib/ulid.ts'
import {
  NoUpdatableFields,
  OperatorDeactivated,
  OperatorEmailTaken,
  OperatorNotFound,
  OwnMfaReset,
  OwnPasswordReset,
  OwnRoleOrStatus,
} from './operators.errors.ts'
import { OperatorPasswordReset } from './operators.events.ts'
import * as operators from './operators.repository.ts'

interface NewOperator {
  email: string
  full_name: string
  password: string
  role: Role
}

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'events' | 'now' | 'passwords'>

export type OperatorService = ReturnType<typeof operatorService>

const conflicts = { operators_email: () => new OperatorEmailTaken() }

export function operatorService({ access, change, db, events, now, passwords }: Needs) {
  async function get(id: string) {
    const operator = await operators.find(db, id, now())
    if (!operator) throw new OperatorNotFound()
    return operator
  }

  return {
    get,

    async list(filter: operators.OperatorFilter, page: Page) {
      const { items, total } = await operators.list(db, filter, page, now())
      return paginated(items, total, page)
    },

    async create(caller: Caller, body: NewOperator) {
      const problem = passwordProblem(body.password)
      if (problem) throw invalidField('password', problem)
      const id = ulid()
      const password_hash = await passwords.hash(body.password)
      await change(caller, async (tx) => {
        const inserted = await operators.insert(tx, {
          id,
          email: body.email.trim().toLowerCase(),
          full_name: body.full_name,
          role: body.role,
          password_hash,
          created_by: caller.id,
        })
        if (!inserted) throw new OperatorEmailTaken()
        return { id }
      })
      return get(id)
    },

    /** Deactivation ends the operator's sessions. A new role applies from the next request on. */
    async update(
      caller: Caller,
      id: string,
      fields: { full_name?: string; role?: Role; is_active?: boolean },
    ) {
      const affectsAccess = fields.role !== undefined || fields.is_active !== undefined
      if (id === caller.id && affectsAccess) throw new OwnRoleOrStatus()
      if (Object.keys(fields).length === 0) throw new NoUpdatableFields()
      const write = async (tx: Tx) => {
        if (affectsAccess) {
          const owners = await operators.lockOwners(tx)
          if (!owners.some((owner) => owner.id === caller.id)) throw new InsufficientRole()
        }
        if (!(await operators.update(tx, id, fields, now()))) throw new OperatorNotFound()
        if (fields.is_active === false) {
          await access.sessions.revokeAllOf(tx, 'operator', id)
          await access.links.remove(tx, { operator_id: id })
        }
      }
      // Meanwhile another operator may have got the address of a deactivated one.
      await refusing(conflicts, () => change(caller, write))
      await access.settled()
      return get(id)
    },

    async resetMfa(caller: Caller, id: string) {
      if (id === caller.id) throw new OwnMfaReset()
      const result = await change(caller, async (tx) => {
        if (!(await operators.exists(tx, id))) throw new OperatorNotFound()
        return {
          operator_id: id,
          mfa_cleared: await access.twoFactor.reset(tx, { kind: 'operator', id }),
          sessions_revoked: await access.sessions.revokeAllOf(tx, 'operator', id),
        }
      })
      await access.settled()
      return result
    },

    /** Creates a link to set a new password. The old one works until the link is used. */
    async resetPassword(caller: Caller, id: string) {
      if (id === caller.id) throw new OwnPasswordReset()
      const created = await change(caller, async (tx) => {
        const operator = await operators.lock(tx, id)
        if (!operator) throw new OperatorNotFound()
        if (!operator.is_active) throw new OperatorDeactivated()
        const { email } = operator
        const data = { operator_id: id, email }
        await events.emit(tx, OperatorPasswordReset, { org_id: null }, data)
        return access.links.create(tx, { operator_id: id }, 'password_reset')
      })
      return { operator_id: id, ...created }
    },

    async revokeSessions(caller: Caller, id: string) {
      const revoked = await change(caller, async (tx) => {
        if (!(await operators.exists(tx, id))) throw new OperatorNotFound()
        return access.sessions.revokeAllOf(tx, 'operator', id)
      })
      await access.settled()
      return { operator_id: id, revoked }
    },
  }
}
