import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { remove } from '../provider/items.repository.ts'
import * as grants from './grants.repository.ts'

export const GrantNotFound = defineError({ status: 404, message: 'Grant not found' })

type Needs = Pick<Core, 'access' | 'authCache' | 'change' | 'db'>

export type GrantService = ReturnType<typeof grantService>

/** The rights of programs in mailboxes. Ending a grant ends every token of it. */
export function grantService({ access, authCache, change, db }: Needs) {
  const list = async (whose: grants.Whose, filter: grants.GrantFilter, page: Page) => {
    const { items, total } = await grants.list(db, whose, filter, page)
    return paginated(items, total, page)
  }

  async function end(caller: Caller, whose: grants.Whose, id: string) {
    const email = await change(caller, async (tx) => {
      const grant = await grants.find(tx, whose, id)
      if (!grant) throw new GrantNotFound()
      await remove(tx, { grantId: id })
      return grant.user_email
    })
    await access.settled()
    return { grant_id: id, cache_flushed: await authCache.flush([email]) }
  }

  return {
    list: (caller: Caller, filter: grants.GrantFilter, page: Page) =>
      list({ scope: caller.scope }, filter, page),
    end: (caller: Caller, id: string) => end(caller, { scope: caller.scope }, id),
    listOwn: (caller: Caller, page: Page) => list({ accountId: caller.id }, {}, page),
    endOwn: (caller: Caller, id: string) => end(caller, { accountId: caller.id }, id),
  }
}
