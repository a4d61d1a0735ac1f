import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { listSessions, sessionExists } from './sessions.repository.ts'

export const MailboxSessionNotFound = defineError({ status: 404, message: 'Session not found' })

export type MailboxSessionService = ReturnType<typeof mailboxSessionService>

export const mailboxSessionService = ({
  access,
  change,
  db,
  now,
}: Pick<Core, 'access' | 'change' | 'db' | 'now'>) => ({
  async list(caller: Caller, page: Page) {
    const current = caller.session?.id ?? ''
    const { items, total } = await listSessions(db, caller.id, current, page, now())
    return paginated(items, total, page)
  },

  async revoke(caller: Caller, id: string) {
    await change(caller, async (tx) => {
      if (!(await sessionExists(tx, caller.id, id, now()))) throw new MailboxSessionNotFound()
      await access.sessions.revoke(tx, id)
    })
    await access.settled()
    return { revoked: 1 }
  },
})
