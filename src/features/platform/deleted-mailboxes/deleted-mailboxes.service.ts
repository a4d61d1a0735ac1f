import type { Core } from '../../../core.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import * as deleted from './deleted-mailboxes.repository.ts'

export type DeletedMailboxService = ReturnType<typeof deletedMailboxService>

export const deletedMailboxService = ({
  config,
  db,
  now,
}: Pick<Core, 'config' | 'db' | 'now'>) => ({
  async list(filter: deleted.DeletedFilter, page: Page) {
    const { items, total } = await deleted.list(db, filter, config.DELETED_MAIL_DAYS, page, now())
    return paginated(items, total, page)
  },
})
