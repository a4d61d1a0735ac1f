import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { DomainNotFound } from '../domains.errors.ts'
import * as domains from '../domains.repository.ts'
import * as history from './dns-history.repository.ts'

export type DnsHistoryService = ReturnType<typeof dnsHistoryService>

export const dnsHistoryService = ({ db }: Pick<Core, 'db'>) => ({
  async list(caller: Caller, domainId: string, page: Page) {
    if (!(await domains.find(db, caller.scope, domainId))) throw new DomainNotFound()
    const { items, total } = await history.list(db, domainId, page)
    return paginated(items, total, page)
  },
})
