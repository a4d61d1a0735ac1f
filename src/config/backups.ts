import * as env from './env.ts'

export const backupVariables = {
  BACKUP_PASSPHRASE: env.text('Encrypts backups, 12 characters or more'),
  BACKUP_DIR: env.text('Folder of backups; unset: DATA_DIR/backups'),
  BACKUP_RETENTION_DAYS: env.integer('Days to keep backups; unset: for ever', undefined, {
    min: 1,
  }),
  BACKUP_KEEP_DAILY: env.integer('Days whose newest backup is kept', undefined, { min: 1 }),
  BACKUP_KEEP_WEEKLY: env.integer('Weeks whose newest backup is kept', undefined, { min: 1 }),
  BACKUP_TIMEOUT_SECONDS: env.integer(
    'Seconds without progress after which a backup or a restore is given up',
    120,
    { min: 1, max: 86_400 },
  ),
  BACKUP_S3_BUCKET: env.text('Bucket that gets a copy of every backup; unset: none'),
  BACKUP_S3_PREFIX: env.text('First part of the names of backups in the bucket', 'backups'),
  BACKUP_S3_ENDPOINT: env.url('URL of the object storage of backups; unset: S3_ENDPOINT'),
  BACKUP_S3_ACCESS_KEY: env.text('Name of its key; unset: S3_ACCESS_KEY'),
  BACKUP_S3_SECRET_KEY: env.text('Secret of its key; unset: S3_SECRET_KEY'),
  BACKUP_S3_REGION: env.text('Its region; unset: S3_REGION'),
  BACKUP_S3_PART_MB: env.integer('Megabytes of a part of an upload', 16, { min: 5, max: 1024 }),
  BACKUP_BEFORE_MIGRATION: env.choice(
    'Databases that are backed up before migrations change them',
    'embedded',
    ['embedded', 'always', 'never'],
  ),
  BACKUP_SCHEDULE: env.text('Backup schedule that the console shows'),
} as const

type Values = Record<keyof typeof backupVariables | 'S3_ACCESS_KEY' | 'S3_SECRET_KEY', unknown>

export function checkBackups(values: Values): void {
  const { BACKUP_S3_BUCKET: bucket } = values
  const accessKey = values.BACKUP_S3_ACCESS_KEY ?? values.S3_ACCESS_KEY
  const secretKey = values.BACKUP_S3_SECRET_KEY ?? values.S3_SECRET_KEY
  if (bucket !== undefined && (accessKey === undefined || secretKey === undefined)) {
    const expected = 'set together with BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY'
    throw new env.InvalidVariable('BACKUP_S3_BUCKET', expected, String(bucket))
  }
}
