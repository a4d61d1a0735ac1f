import { awaited } from './plan.ts'

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
