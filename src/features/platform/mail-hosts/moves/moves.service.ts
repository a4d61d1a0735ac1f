import type { Caller } from '../../../../access/caller.ts'
import type { Core } from '../../../../core.ts'
import { type Page, paginated } from '../../../../http/paging.ts'
import {
  AlreadyThere,
  MailboxNotPlaced,
  MailHostNotFound,
  MoveNotCancellable,
  MoveNotFound,
  NotABackend,
} from '../mail-hosts.errors.ts'
import * as hosts from '../mail-hosts.repository.ts'
import * as moves from './moves.repository.ts'

export type MoveService = ReturnType<typeof moveService>

export function moveService({ change, db }: Pick<Core, 'change' | 'db'>) {
  async function get(id: string) {
    const move = await moves.find(db, id)
    if (!move) throw new MoveNotFound()
    return move
  }

  return {
    get,

    async list(filter: moves.MoveFilter, page: Page) {
      const { items, total } = await moves.list(db, filter, page)
      return paginated(items, total, page)
    },

    async start(caller: Caller, { email, host_id }: { email: string; host_id: string }) {
      const ids = await change(caller, async (tx) => {
        const host = await hosts.lock(tx, host_id)
        if (!host) throw new MailHostNotFound()
        if (!host.roles.includes('backend') || host.state !== 'active') throw new NotABackend()
        const mailbox = await moves.mailboxOf(tx, email)
        if (mailbox === undefined) throw new MailboxNotPlaced()
        const started = await moves.start(tx, mailbox, host_id, caller.id)
        if (started.length === 0) throw new AlreadyThere()
        return started
      })
      return { moves: await Promise.all(ids.map(get)) }
    },

    async cancel(caller: Caller, id: string) {
      await get(id)
      await change(caller, async (tx) => {
        if (!(await moves.cancel(tx, id))) throw new MoveNotCancellable()
        return { id }
      })
      return get(id)
    },
  }
}
