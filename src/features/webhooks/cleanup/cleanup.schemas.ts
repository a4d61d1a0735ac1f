import { type Static, Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'

const MAX_HOURS = 24 * 365 * 10

const settings = {
  enabled: Type.Boolean({ description: 'Old records are deleted by themselves' }),
  cleanup_interval_hours: Type.Integer({ minimum: 1, maximum: 720, examples: [4] }),
  successful_retention_hours: Type.Integer({ minimum: 1, maximum: MAX_HOURS, examples: [24] }),
  failed_retention_hours: Type.Integer({ minimum: 1, maximum: MAX_HOURS, examples: [72] }),
  auto_delete_successful: Type.Boolean({
    description: 'Without this, successful attempts are stored without a limit',
  }),
  cleanup_batch_size: Type.Integer({ minimum: 1, maximum: 100_000, examples: [1000] }),
}

export const CleanupConfig = Type.Object(settings)
export type CleanupConfig = Static<typeof CleanupConfig>

export const CleanupChange = Body({
  enabled: Type.Optional(settings.enabled),
  cleanup_interval_hours: Type.Optional(settings.cleanup_interval_hours),
  successful_retention_hours: Type.Optional(settings.successful_retention_hours),
  failed_retention_hours: Type.Optional(settings.failed_retention_hours),
  auto_delete_successful: Type.Optional(settings.auto_delete_successful),
  cleanup_batch_size: Type.Optional(settings.cleanup_batch_size),
})
export type CleanupChange = Static<typeof CleanupChange>

const Deleted = {
  deleted_deliveries: Type.Integer({ examples: [12] }),
  deleted_events: Type.Integer({ examples: [10] }),
}

export const CleanupDone = Type.Object({
  status: Type.Literal('success'),
  message: Type.Literal('Cleanup finished'),
  ...Deleted,
})

export const CleanupStats = Type.Object({
  total_deliveries: Type.Integer(),
  by_status: Type.Record(Type.String(), Type.Integer(), { examples: [{ delivered: 120 }] }),
  expired_deliveries: Type.Integer({ description: 'Count what a clean-up would delete now' }),
  last_cleanup: Type.Object({
    begun_at: Nullable(Timestamp),
    finished_at: Nullable(Timestamp),
    ...Deleted,
  }),
})
