import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { narrowed } from '../../../database/scope.ts'
import { Unprocessable } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { parseIso, parseUpperBound } from '../../../lib/dates.ts'
import { DELIVERY_STATUSES, readStatus } from '../webhook-statuses.ts'
import * as deliveries from './deliveries.repository.ts'

interface Query {
  status?: string
  event_id?: string
  event_type?: string
  endpoint_id?: string
  message_id?: string
  date_from?: string
  date_to?: string
  organization_id?: string
}

export type DeliveryService = ReturnType<typeof deliveryService>

export const deliveryService = ({ db }: Pick<Core, 'db'>) => ({
  async list(caller: Caller, query: Query, page: Page) {
    const { status, date_from, date_to, organization_id, ...exact } = query
    const delivery_status = readStatus(status, DELIVERY_STATUSES)
    const from = date_from === undefined ? undefined : parseIso(date_from)
    const to = date_to === undefined ? undefined : parseUpperBound(date_to)
    if ((date_from !== undefined && !from) || (date_to !== undefined && !to)) {
      throw new Unprocessable('date_from/date_to must be ISO dates or datetimes')
    }
    const { items, total } = await deliveries.list(
      db,
      narrowed(caller.scope, organization_id),
      {
        ...exact,
        ...(delivery_status && { delivery_status }),
        ...(from && { from }),
        ...(to && { to }),
      },
      page,
    )
    return paginated(items, total, page)
  },
})
