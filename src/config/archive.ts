import * as env from './env.ts'

const REASON = 'this version has no archiver and would store nothing there'

/** Object storage of the archiver, a service that this version does not have. */
export const archiveVariables = {
  S3_ENDPOINT: env.refused('URL of the object storage of the archiver', REASON),
  S3_BUCKET: env.refused('Bucket of the archiver', REASON),
  S3_ACCESS_KEY: env.refused('Name of the key of the object storage', REASON),
  S3_SECRET_KEY: env.refused('Secret of the key of the object storage', REASON),
  S3_REGION: env.refused('Region of the object storage', REASON),
} as const
