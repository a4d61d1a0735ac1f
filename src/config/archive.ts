import { readRecipient } from '../lib/age.ts'
import * as env from './env.ts'

export const archiveVariables = {
  S3_ENDPOINT: env.url('URL of the object storage of the archive; unset: that of AWS'),
  S3_BUCKET: env.text('Bucket of the archive; unset: mail is not archived in object storage'),
  S3_ACCESS_KEY: env.text('Name of the key of the object storage'),
  S3_SECRET_KEY: env.text('Secret of the key of the object storage'),
  S3_REGION: env.text('Region of the object storage', 'us-east-1'),
  S3_PATH_STYLE: env.flag(
    'Name the bucket in the path and not in the host; AWS always gets it in the host',
    true,
  ),
  ARCHIVE_S3_PREFIX: env.text('First part of the names of archived objects', 'archive'),
  ARCHIVE_FOLDER: env.text('Folder for the archive of a host without object storage'),
  ARCHIVE_SPOOL_PATH: env.text(
    'Folder where sealed messages wait for their upload; unset: archive-spool in DATA_DIR',
  ),
  ARCHIVE_SPOOL_MAX_MB: env.integer('Megabytes that may wait in the folder', 10_240, {
    min: 1,
    max: 100_000_000,
  }),
  ARCHIVE_REQUIRED: env.flag(
    'Defer mail that cannot be archived; false: it is delivered without a copy in the archive',
    true,
  ),
  ARCHIVE_AGE_IDENTITY_FILE: env.text(
    'File with the age identities of the archive, the current one first; unset: kept in the database',
  ),
  ARCHIVE_IDENTITY_LOST: env.flag(
    'Start although no identity of the platform opens the oldest or the newest archived message',
    false,
  ),
  DR_AGE_RECIPIENT: env.text(
    'A further age recipient of every archived message, whose identity is kept elsewhere',
  ),
  ARCHIVE_CHECK_SAMPLE: env.integer('Archived messages that are read back each week', 100, {
    min: 1,
    max: 100_000,
  }),
} as const

type Values = Record<keyof typeof archiveVariables, unknown>

export function checkArchive(values: Values): void {
  const { S3_BUCKET, S3_ACCESS_KEY, S3_SECRET_KEY, DR_AGE_RECIPIENT } = values
  if (S3_BUCKET !== undefined && (S3_ACCESS_KEY === undefined || S3_SECRET_KEY === undefined)) {
    const expected = 'set together with S3_ACCESS_KEY and S3_SECRET_KEY'
    throw new env.InvalidVariable('S3_BUCKET', expected, String(S3_BUCKET))
  }
  if (DR_AGE_RECIPIENT !== undefined && !readRecipient(String(DR_AGE_RECIPIENT))) {
    const expected = 'an age recipient that starts with age1'
    throw new env.InvalidVariable('DR_AGE_RECIPIENT', expected, String(DR_AGE_RECIPIENT))
  }
}
