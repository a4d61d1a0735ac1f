import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { OneOf } from '../../http/envelope.ts'

const source = 'storage_usage'
const entity = { entity_type: OneOf(['mailbox', 'domain']), identifier: Type.String() }

const alert = Type.Object({
  ...entity,
  storage_type: OneOf(['mailbox', 'total']),
  current_usage: Type.Integer(),
  quota_limit: Type.Integer(),
  usage_percentage: Type.Number(),
  threshold_percent: Type.Integer(),
  alert_level: OneOf(['warning', 'critical', 'exceeded']),
})

export const QuotaWarning = defineEvent('storage.quota.warning', {
  source,
  summary: 'A mailbox or a domain has reached the warning threshold of its quota',
  data: alert,
})

export const QuotaExceeded = defineEvent('storage.quota.exceeded', {
  source,
  summary:
    'A mailbox or a domain has reached the critical threshold of its quota; mail is refused at 100 percent',
  data: alert,
})

export const UsageReport = defineEvent('storage.usage.report', {
  source,
  summary: 'Storage used by a domain, emitted from time to time while it changes',
  data: Type.Object({
    ...entity,
    used_bytes: Type.Integer(),
    quota_bytes: Type.Union([Type.Integer(), Type.Null()]),
    usage_percentage: Type.Number(),
    calculated_at: Type.String(),
  }),
})

export const StorageCleanup = defineEvent('storage.cleanup', {
  source,
  summary: 'Old records of usage were removed, and old mail if that was asked for',
  data: Type.Object({
    domain: Type.Optional(Type.String()),
    target: Type.String(),
    older_than_days: Type.Integer(),
    dry_run: Type.Boolean(),
    matched_records: Type.Integer(),
    cleaned_records: Type.Integer(),
    matched_messages: Type.Optional(Type.Integer()),
  }),
})
