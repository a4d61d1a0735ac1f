import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { installation } from './installation.ts'
import { run, startServer, temporaryFolder } from './process.ts'

interface Place {
  url: string
  bucket: string
  accessKey: string
  secretKey: string
}

/** A server whose backup goes to S3 in three parts, and the settings of its commands. */
export async function startWithBackups({ url, bucket, accessKey, secretKey }: Place) {
  const made = await installation()
  const server = await startServer(made)
  const { stdout } = await run(['db', 'url'], { DATA_DIR: made.dataDir })
  const sql = postgres(stdout.trim(), { max: 1 })
  // It cannot be compressed.
  await sql`insert into settings (name, value) values ('large', ${randomBytes(12 * 1024 * 1024)})`
  await sql.end()
  const env: Record<string, string> = {
    DATA_DIR: made.dataDir,
    BACKUP_DIR: temporaryFolder(),
    BACKUP_PASSPHRASE: 'a passphrase to remember',
    BACKUP_S3_ENDPOINT: url,
    BACKUP_S3_BUCKET: bucket,
    BACKUP_S3_ACCESS_KEY: accessKey,
    BACKUP_S3_SECRET_KEY: secretKey,
    BACKUP_S3_PART_MB: '5',
    SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
  }
  return { made, server, env }
}
