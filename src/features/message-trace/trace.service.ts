import type { Core } from '../../core.ts'
import { Unprocessable } from '../../errors.ts'
import type { Slice } from '../../http/paging.ts'
import { parseIso, parseUpperBound } from '../../lib/dates.ts'
import { MessageNotFound } from './message-trace.errors.ts'
import * as quarantine from './quarantine.repository.ts'
import * as trace from './trace.repository.ts'
import * as trail from './trail.repository.ts'

interface Range {
  start_date?: string
  end_date?: string
}

export type TraceService = ReturnType<typeof traceService>

export const traceService = ({ db }: Pick<Core, 'db'>) => ({
  search: (
    { start_date, end_date, ...filter }: Omit<trace.TraceFilter, 'from' | 'to'> & Range,
    slice: Slice,
  ) => trace.list(db, { ...filter, ...rangeOf({ start_date, end_date }) }, slice),

  /** Everything that happened to one message, in the order it happened. */
  async timeline(messageId: string) {
    const [deliveries, quarantined] = await Promise.all([
      trace.ofMessage(db, messageId),
      quarantine.idsOfMessage(db, messageId),
    ])
    const audit_events = await trail.ofQuarantined(db, quarantined)
    if (deliveries.length === 0 && quarantined.length === 0) throw new MessageNotFound()
    return { message_id: deliveries[0]?.message_id ?? messageId, deliveries, audit_events }
  },

  audit: (
    { start_date, end_date, ...filter }: Omit<trail.TrailFilter, 'from' | 'to'> & Range,
    slice: Slice,
  ) => trail.list(db, { ...filter, ...rangeOf({ start_date, end_date }) }, slice),
})

function rangeOf({ start_date, end_date }: { [Name in keyof Range]: Range[Name] | undefined }) {
  const from = start_date === undefined ? undefined : parseIso(start_date)
  const to = end_date === undefined ? undefined : parseUpperBound(end_date)
  if ((start_date !== undefined && !from) || (end_date !== undefined && !to)) {
    throw new Unprocessable('start_date/end_date must be ISO dates or datetimes')
  }
  return { ...(from && { from }), ...(to && { to }) }
}
