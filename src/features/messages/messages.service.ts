import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { narrowed } from '../../database/scope.ts'
import { DAY_MS } from '../../lib/time.ts'
import type { TraceService } from '../message-trace/trace.service.ts'
import { engagementOf } from './messages.repository.ts'

type Filter = Omit<Parameters<TraceService['page']>[1], 'isLast'>

interface Needs extends Pick<Core, 'db'> {
  trace: Pick<TraceService, 'page' | 'timeline'>
}

export type MessageService = ReturnType<typeof messageService>

/** The message trace as the owner of the mail sees it. */
export const messageService = ({ db, trace }: Needs) => ({
  async list({ scope }: Caller, { organization_id, ...filter }: Filter, limit: number) {
    const { rows, next } = await trace.page(narrowed(scope, organization_id), filter, limit)
    return { messages: rows.map(withDirection), next }
  },

  async get({ scope }: Caller, messageId: string) {
    const { message_id, deliveries, audit_events } = await trace.timeline(scope, messageId)
    return {
      message_id,
      deliveries: deliveries.map(withDirection),
      // Names and addresses of operators are not for tenants.
      decisions: audit_events.map(({ id, event_type: action, created_at }) => ({
        id,
        action,
        created_at,
      })),
      engagement: await engagementOf(db, scope, message_id, sentAfter(deliveries)),
    }
  },
})

/** A mail server tries for days; the attempts for other recipients may have expired. */
const LONGEST_TRIED_MS = 7 * DAY_MS

/** A time before the message was sent. */
const sentAfter = ([first]: { timestamp: string }[]): Date =>
  new Date(Date.parse(first?.timestamp ?? '') - LONGEST_TRIED_MS)

const withDirection = <Row extends { login: string | null }>(row: Row) => ({
  ...row,
  direction: row.login === null ? ('inbound' as const) : ('outbound' as const),
})
