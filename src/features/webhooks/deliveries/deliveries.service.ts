import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { narrowed } from '../../../database/scope.ts'
import { defineError } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { dateRange } from '../../../lib/date-range.ts'
import { envelopeOf, type StoredEvent } from '../delivery/envelope.ts'
import { HIDDEN_URL, hidesGlobalUrl } from '../global-url.ts'
import { DELIVERY_STATUSES, readStatus } from '../webhook-statuses.ts'
import * as deliveries from './deliveries.repository.ts'

export const DeliveryNotFound = defineError({
  status: 404,
  message: 'Webhook delivery not found',
})

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
    const { items, total } = await deliveries.list(
      db,
      narrowed(caller.scope, organization_id),
      {
        ...exact,
        ...(delivery_status && { delivery_status }),
        ...dateRange(date_from, date_to),
      },
      page,
    )
    return paginated(items.map(shownTo(caller)), total, page)
  },

  /** One attempt with the envelope that was sent; null once its event is deleted. */
  async get(caller: Caller, id: string) {
    const row = await deliveries.find(db, caller.scope, id)
    if (!row) throw new DeliveryNotFound()
    if (hidesGlobalUrl(caller, row)) return { ...shownTo(caller)(row), payload: null }
    const event = await deliveries.findEvent(db, row.event_id)
    return { ...row, payload: event ? envelopeOf(event as StoredEvent) : null }
  },
})

type DeliveryRow = Awaited<ReturnType<typeof deliveries.list>>['items'][number]

/** A tenant sees the result at the global URL, but neither the URL nor the text of the receiver. */
const shownTo =
  (caller: Caller) =>
  (row: DeliveryRow): DeliveryRow => {
    if (!hidesGlobalUrl(caller, row)) return row
    const { error_message, http_status_code: code } = row
    const error = code === 0 ? 'No response' : `HTTP ${code}`
    return { ...row, webhook_url: HIDDEN_URL, error_message: error_message === null ? null : error }
  }
