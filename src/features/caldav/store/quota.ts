import type { Config } from '../../../config/index.ts'
import type { Growth, Usage } from './collections.repository.ts'

/** True when an owner would have more than it may. Changes without growth pass in a full mailbox too. */
export const exceedsQuota = (
  config: Pick<Config, 'CALDAV_QUOTA_MB' | 'CALDAV_MAX_OBJECTS'>,
  used: Pick<Usage, 'bytes' | 'objects'>,
  { bytes, objects }: Growth,
): boolean =>
  (bytes > 0 && used.bytes + bytes > config.CALDAV_QUOTA_MB * 1024 * 1024) ||
  (objects > 0 && used.objects + objects > config.CALDAV_MAX_OBJECTS)
