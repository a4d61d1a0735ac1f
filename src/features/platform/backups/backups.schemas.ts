import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'

const STATUSES = ['running', 'completed', 'failed'] as const
const TARGETS = ['database', 'mail', 'config', 'all'] as const
const TYPES = ['full', 'incremental', 'differential'] as const
const SORTS = ['started_at', 'completed_at', 'id'] as const

export const BackupRun = Type.Object(
  {
    id: Type.Integer(),
    backup_id: Type.String({ examples: ['20261115T101500Z'] }),
    hostname: Type.String({ examples: ['mail1'] }),
    started_at: Timestamp,
    finished_at: Nullable(Timestamp),
    status: OneOf(STATUSES),
    size_bytes: Nullable(Type.Integer()),
    target: Type.String({ examples: ['database'] }),
    backup_type: Type.String({ examples: ['full'] }),
    storage_path: Nullable(Type.String()),
    checksum: Nullable(Type.String()),
    encrypted: Type.Boolean(),
    error: Nullable(Type.String()),
  },
  { title: 'BackupRun' },
)

export const BackupQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(OneOf(STATUSES)),
  target: Type.Optional(OneOf(TARGETS)),
  backup_type: Type.Optional(OneOf(TYPES)),
  sort: Type.Optional(OneOf(SORTS, { default: 'started_at' })),
  direction: Type.Optional(OneOf(['asc', 'desc'], { default: 'desc' })),
})

export const BackupReport = Body({
  backup_id: Type.String({
    minLength: 1,
    maxLength: 32,
    description: 'Identifies the run on its host; a later report with the same id updates the run',
    examples: ['20261115T101500Z'],
  }),
  hostname: Type.String({ minLength: 1, maxLength: 255, examples: ['mail1'] }),
  backup_type: Type.Optional(OneOf(TYPES, { default: 'full' })),
  target: Type.Optional(OneOf(TARGETS, { default: 'all' })),
  status: OneOf(STATUSES),
  size_bytes: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  ),
  storage_path: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  checksum: Type.Optional(Nullable(Type.String({ maxLength: 128 }))),
  encrypted: Type.Optional(Type.Boolean({ default: true })),
  error_message: Type.Optional(Nullable(Type.String({ maxLength: 4000 }))),
})

export const BackupHostParams = Type.Object({ hostname: Type.String({ maxLength: 255 }) })

export const BackupHostRemoval = Body({
  reason: Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'Kept in the audit trail',
    examples: ['The host is retired'],
  }),
})

export const BackupHostRemoved = Type.Object({
  hostname: Type.String({ examples: ['mail1'] }),
  removed_runs: Type.Integer({ examples: [12] }),
})

export const BackupRecorded = Type.Object({ id: Type.Integer(), backup_id: Type.String() })

export const BackupStatus = Type.Object({
  last_success_at: Nullable(Timestamp),
  last_failure_at: Nullable(Timestamp),
  schedule: Nullable(Type.String({ description: 'BACKUP_SCHEDULE' })),
  retention_days: Nullable(Type.Integer({ description: 'BACKUP_RETENTION_DAYS' })),
  total_size_bytes: Type.Integer({ description: 'Sum over completed runs' }),
  total_runs: Type.Integer(),
  running: Type.Integer(),
  runs: Type.Array(BackupRun),
  hosts: Type.Array(
    Type.Object({
      hostname: Type.String(),
      last_success_at: Nullable(Timestamp),
      unencrypted_runs: Type.Integer(),
      stale: Type.Boolean({ description: 'No run completed in the last 26 hours' }),
    }),
  ),
  bucket: Nullable(Type.String({ description: 'BACKUP_S3_BUCKET' })),
  last_drill: Nullable(
    Type.Object(
      {
        backup_id: Nullable(Type.String({ examples: ['20261115T101500Z'] })),
        location: Type.String({ description: 'File or s3:// location of the backup' }),
        finished_at: Timestamp,
        seconds: Type.Number(),
        passed: Type.Boolean(),
        problems: Type.Array(Type.String()),
        last_passed_at: Nullable(Timestamp),
      },
      { description: 'The newest result of `mailplane backup drill`' },
    ),
  ),
  notes: Type.Array(Type.String()),
})
