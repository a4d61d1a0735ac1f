import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import * as sessions from './sessions.repository.ts'

export const SessionNotFound = defineError({ status: 404, message: 'Session not found' })

interface Needs extends Pick<Core, 'access' | 'change' | 'db' | 'now'> {
  operators: { get(id: string): Promise<unknown> }
}

export type OperatorSessionService = ReturnType<typeof operatorSessionService>

export const operatorSessionService = ({ access, change, db, now, operators }: Needs) => ({
  async listOf(operatorId: string) {
    await operators.get(operatorId)
    return { items: await sessions.listOf(db, operatorId, now()) }
  },

  async listLive(caller: Caller) {
    return { items: await sessions.listLive(db, caller.session?.id ?? '', now()) }
  },

  /** Returns 404 for a session that is unknown or already ended. */
  async revoke(caller: Caller, id: string) {
    await change(caller, async (tx) => {
      if (!(await sessions.findLive(tx, id, now()))) throw new SessionNotFound()
      if (!(await access.sessions.revoke(tx, id))) throw new SessionNotFound()
    })
    await access.settled()
    return { session_id: id, revoked: 1 as const }
  },
})
