import { join } from 'node:path'
import type { Sql } from 'postgres'
import { makeBackup, rootKeyOf } from './backup/backup.ts'
import { folderOf, nameOf, stampOf } from './backup/files.ts'
import type { Config } from './config/index.ts'
import { openDatabase, type Target } from './database/database.ts'
import { type MigrationNews, migrate } from './database/migrate.ts'
import { findPrimary } from './database/primary.ts'
import { StartupError } from './startup-error.ts'

type Settings = Pick<
  Config,
  | 'BACKUP_BEFORE_MIGRATION'
  | 'BACKUP_DIR'
  | 'BACKUP_PASSPHRASE'
  | 'BACKUP_RETENTION_DAYS'
  | 'BACKUP_TIMEOUT_SECONDS'
  | 'DATABASE_URL'
  | 'DATA_DIR'
  | 'SVC_SECRET_KEY'
>

export interface UpgradeReport {
  migration(news: MigrationNews): void
  backup(path: string, pending: string[]): void
}

/** Applies the pending migrations, with a backup before the first one where that is configured. */
export async function upgradeDatabase(
  target: Target,
  config: Settings,
  report: UpgradeReport,
  folder?: string,
): Promise<string[]> {
  // One connection holds the lock of the migrations while another one reads for the backup.
  const database = openDatabase(await findPrimary(target), { pool: 4, name: 'migration' })
  try {
    return await migrate(database.sql, {
      ...(folder !== undefined && { folder }),
      report: report.migration,
      before: async (pending) => {
        if (isBackedUp(config)) report.backup(await backUp(database.sql, config), pending)
      },
    })
  } finally {
    await database.close()
  }
}

export const isBackedUp = ({ BACKUP_BEFORE_MIGRATION: when, DATABASE_URL }: Settings): boolean =>
  when === 'always' || (when === 'embedded' && DATABASE_URL === undefined)

async function backUp(sql: Sql, config: Settings): Promise<string> {
  const at = new Date()
  const path = join(folderOf(config), nameOf(stampOf(at)))
  // Without a passphrase the file is as safe as the database beside it, which the same key opens.
  const settings = { ...config, BACKUP_PASSPHRASE: config.BACKUP_PASSPHRASE ?? rootKeyOf(config) }
  try {
    await makeBackup({ sql, settings, path, at, progress: () => {} })
    return path
  } catch (error) {
    throw new StartupError(
      `the backup before the migration failed: ${(error as Error).message}; BACKUP_BEFORE_MIGRATION=never migrates without one`,
    )
  }
}
