import type { Db } from '../../database/database.ts'
import { inScope, type Scope } from '../../database/scope.ts'

const MAX_ENGAGEMENT = 100
const TYPES = ['opened', 'clicked', 'unsubscribed', 'complained'] as const

/** Opens, clicks and other reactions of recipients to a message since a time, oldest first. */
export const engagementOf = (db: Db, scope: Scope, messageId: string, since: Date) =>
  db
    .selectFrom('tracking_events')
    .select(['id', 'event_type as type', 'recipient', 'url', 'automated', 'created_at'])
    .where('email_id', '=', messageId.replace(/^<|>$/g, ''))
    .where('created_at', '>=', since.toISOString())
    .where(inScope('tracking_events', scope))
    .where('event_type', 'in', TYPES)
    .orderBy('created_at')
    .orderBy('id')
    .limit(MAX_ENGAGEMENT)
    .execute()
