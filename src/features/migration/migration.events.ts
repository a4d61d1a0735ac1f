import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { OneOf } from '../../http/envelope.ts'
import { DIRECTIONS } from './migration.schemas.ts'

const source = 'migration'
const job_id = Type.String()

export const MigrationStarted = defineEvent('migration.started', {
  source,
  summary: 'A migration job began',
  data: Type.Object({
    job_id,
    direction: OneOf(DIRECTIONS),
    source_host: Type.String(),
    target_email: Type.String(),
    is_delta: Type.Boolean(),
  }),
})

export const MigrationProgress = defineEvent('migration.progress', {
  source,
  summary: 'A migration job got further',
  data: Type.Object({
    job_id,
    progress_percentage: Type.Number(),
    messages_migrated: Type.Integer(),
    messages_failed: Type.Integer(),
    total_messages: Type.Integer(),
    current_folder: Type.String(),
    speed_msgs_per_sec: Type.Number(),
  }),
})

export const MigrationCompleted = defineEvent('migration.completed', {
  source,
  summary: 'A migration job ended; some of its messages may have failed',
  data: Type.Object({
    job_id,
    final_status: OneOf(['completed', 'completed_with_errors']),
    total_migrated: Type.Integer(),
    total_failed: Type.Integer(),
    duration_seconds: Type.Number(),
  }),
})

export const MigrationFailed = defineEvent('migration.failed', {
  source,
  summary: 'A migration job broke off',
  data: Type.Object({ job_id, direction: OneOf(DIRECTIONS), error: Type.String() }),
})

export const MigrationCancelled = defineEvent('migration.cancelled', {
  source,
  summary: 'A migration job was cancelled; what had arrived stays',
  data: Type.Object({
    job_id,
    cancelled_at: Type.String(),
    migrated_messages: Type.Integer(),
    failed_messages: Type.Integer(),
  }),
})
