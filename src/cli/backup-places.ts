import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileSource, type Source } from '../backup/backup.ts'
import { openBucket } from '../backup/bucket.ts'
import { backupsIn, folderOf, nameOf } from '../backup/files.ts'
import { expired } from '../backup/retention.ts'
import type { Config } from '../config/index.ts'
import { dnsClient } from '../mail/dns.ts'
import { outboundGuard } from '../outbound/guard.ts'
import { StartupError } from '../startup-error.ts'

export type BackupPlaces = ReturnType<typeof backupPlaces>

/** The folder of backups and, with BACKUP_S3_BUCKET, their bucket. */
export function backupPlaces(config: Config) {
  const withDns = dnsClient(config)
  const guard = outboundGuard({
    allow: config.SVC_OUTBOUND_ALLOW,
    resolve: (name) => withDns((dns) => dns.addresses(name)),
  })
  const folder = resolve(folderOf(config))
  const bucket = openBucket({ config, guard, now: () => new Date() })

  /** All backups, newest first; one that is in both places is listed twice. */
  async function list() {
    const inFolder = backupsIn(folder).map(({ name, stamp, size_bytes }) => ({
      backup_id: stamp,
      place: 'folder',
      size_bytes,
      location: join(folder, name),
    }))
    const inBucket = ((await bucket?.list()) ?? []).map(({ name, stamp, size_bytes }) => ({
      backup_id: stamp,
      place: 's3',
      size_bytes,
      location: bucket?.locationOf(name) ?? '',
    }))
    return [...inFolder, ...inBucket].sort((one, other) =>
      other.backup_id.localeCompare(one.backup_id),
    )
  }

  function sourceAt(location: string): Source {
    if (!location.startsWith('s3://')) return fileSource(resolve(location))
    const name = bucket?.nameAt(location)
    if (!bucket || name === undefined) {
      throw new StartupError(
        `${location} is no backup of the bucket and prefix of BACKUP_S3_BUCKET and BACKUP_S3_PREFIX`,
      )
    }
    return bucket.source(name)
  }

  return {
    bucket,
    list,
    /** Finds a file, an object `s3://…`, or the `latest` of all. */
    async find(location: string): Promise<Source> {
      if (location !== 'latest') return sourceAt(location)
      const [newest] = await list()
      if (!newest) throw new StartupError(`there is no backup in ${folder} or in the bucket`)
      return sourceAt(newest.location)
    },
    /** Removes what no rule keeps, in each place for itself; returns how many. */
    async removeExpired(now: Date): Promise<number> {
      const inFolder = expired(stampsOf(backupsIn(folder)), config, now)
      for (const stamp of inFolder) rmSync(join(folder, nameOf(stamp)))
      const inBucket = bucket ? expired(stampsOf(await bucket.list()), config, now) : []
      for (const stamp of inBucket) await bucket?.remove(nameOf(stamp))
      return inFolder.length + inBucket.length
    },
    close: () => bucket?.close(),
  }
}

const stampsOf = (backups: { stamp: string }[]): string[] => backups.map(({ stamp }) => stamp)
