import { awaited } from './plan.ts'

const WHOSE = 'entity_type identifier direction'

awaited('rate_limiter', [
  [
    'rate_limit.exceeded',
    'A message was refused because a limit was reached',
    `${WHOSE} window current_count limit message`,
  ],
  [
    'rate_limit.threshold_breach',
    'A large part of a limit is used',
    `${WHOSE} window current_count limit usage_percentage threshold_level`,
  ],
  [
    'rate_limit.reset',
    'Counters were cleared, or a limit was set anew',
    `${WHOSE} hourly_limit? daily_limit? monthly_limit? active? updated_by?`,
  ],
])

const FILLED =
  'entity_type=mailbox identifier=ada@acme.example storage_type current_usage quota_limit usage_percentage'

awaited('storage_usage', [
  [
    'storage.quota.warning',
    'A large part of a storage quota is used',
    `${FILLED} alert_level threshold_percent?`,
  ],
  [
    'storage.quota.exceeded',
    'A storage quota is used up',
    `${FILLED} alert_level=exceeded threshold_percent?`,
  ],
  [
    'storage.usage.report',
    'The use of storage was added up',
    'entity_type identifier used_bytes quota_bytes usage_percentage calculated_at',
  ],
  [
    'storage.cleanup',
    'Old records of storage use were deleted',
    'domain? target older_than_days dry_run matched_records cleaned_records',
  ],
])
