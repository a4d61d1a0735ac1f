import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import * as rows from './sessions.repository.ts'

export const SessionNotFound = defineError({ status: 404, message: 'Session not found' })

interface Needs extends Pick<Core, 'access' | 'change' | 'db' | 'now'> {
  operators: { get(id: string): Promise<unknown> }
}

export type OperatorSessionService = ReturnType<typeof operatorSessionService>

export const operatorSessionService = ({ access, change, db, now, operators }: Needs) => ({
  async listOf(operatorId: string) {
    await operators.get(operatorId)
    return { items: await rows.listOf(db, operatorId, now()) }
  },

  async listLive(caller: Caller) {
    return { items: await rows.listLive(db, caller.session?.id ?? '', now()) }
  },

  /** Unknown and already ended are the same: there is nothing to revoke. */
  async revoke(caller: Caller, id: string) {
    await change(caller, async (tx) => {
      if (!(await rows.findLive(tx, id, now()))) throw new SessionNotFound()
      if (!(await access.sessions.revoke(tx, id))) throw new SessionNotFound()
    })
    await access.settled()
    return { session_id: id, revoked: 1 as const }
  },
})
