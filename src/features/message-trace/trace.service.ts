import { organizationOf, type Scope } from '../../database/scope.ts'
import { type PastDaysNeeds, pastDays } from '../../hosting/past-days.ts'
import type { Slice } from '../../http/paging.ts'
import { dateRange } from '../../lib/date-range.ts'
import { MessageNotFound } from './message-trace.errors.ts'
import * as trace from './trace.repository.ts'
import * as trail from './trail.repository.ts'

interface Range {
  start_date?: string
  end_date?: string
}

export type TraceService = ReturnType<typeof traceService>

export function traceService(needs: PastDaysNeeds) {
  const { db } = needs
  const past = pastDays(needs)
  return {
    async search(
      { start_date, end_date, ...sent }: Omit<trace.TraceFilter, 'from' | 'to'> & Range,
      slice: Slice,
    ) {
      const filter = { ...sent, ...dateRange(start_date, end_date, 'start_date/end_date') }
      const [rows, total] = await Promise.all([
        trace.list(db, past, filter, slice),
        trace.count(db, past, filter),
      ])
      // A count that stopped early is not the number of all rows.
      return { rows, total, isExact: total < trace.MAX_COUNTED }
    },

    /** One page of the messages in the scope, each once for each recipient, by its last state. */
    async page(
      scope: Scope,
      { start_date, end_date, ...sent }: Omit<trace.TraceFilter, 'from' | 'to'> & Range,
      limit: number,
    ) {
      const organization_id = organizationOf(scope)
      return trace.page(
        db,
        past,
        {
          ...sent,
          ...(organization_id !== null && { organization_id }),
          ...dateRange(start_date, end_date, 'start_date/end_date'),
          isLast: true,
        },
        limit,
      )
    },

    /** The deliveries, the holds and the operator actions of one message, oldest first. */
    async timeline(scope: Scope, messageId: string) {
      const deliveries = await trace.ofMessage(db, past, scope, messageId)
      if (deliveries.length === 0) throw new MessageNotFound()
      const quarantined = deliveries.flatMap(({ quarantine_id }) => quarantine_id ?? [])
      const audit_events = await trail.ofQuarantined(db, quarantined)
      return { message_id: deliveries[0]?.message_id ?? messageId, deliveries, audit_events }
    },

    async audit(
      { start_date, end_date, ...sent }: Omit<trail.TrailFilter, 'from' | 'to'> & Range,
      slice: Slice,
    ) {
      const filter = { ...sent, ...dateRange(start_date, end_date, 'start_date/end_date') }
      const [rows, total] = await Promise.all([
        trail.list(db, filter, slice),
        trail.count(db, filter, trace.MAX_COUNTED),
      ])
      return { rows, total }
    },
  }
}
