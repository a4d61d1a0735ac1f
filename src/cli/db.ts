import { parseArgs } from 'node:util'
import { folderOf } from '../backup/files.ts'
import { type Config, readConfig } from '../config/index.ts'
import { urlOf } from '../database/embedded.ts'
import { migrationStatus } from '../database/migrate.ts'
import { migrationPlan } from '../database/migration-plan.ts'
import { isBackedUp, upgradeDatabase } from '../upgrade.ts'
import { print } from './output.ts'
import { upgradeNotes } from './upgrade-notes.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

export async function databaseCommands([verb, ...args]: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
    },
  })
  if (values.plan && verb !== 'migrate') throw new UsageError('--plan goes with db migrate')
  switch (verb) {
    case 'url': {
      const url = await withDatabase(async (_database, target) => urlOf(target))
      if (values.json) print({ url }, true)
      else process.stdout.write(`${url}\n`)
      return
    }
    case 'migrate': {
      const config = readConfig()
      if (values.plan) return showPlan(config, values.json)
      const applied = await withDatabase((_database, target) =>
        upgradeDatabase(target, config, upgradeNotes),
      )
      print(values.json ? { applied } : applied.map((name) => ({ applied: name })), values.json)
      return
    }
    case 'status': {
      const migrations = await withDatabase(({ sql }) => migrationStatus(sql))
      print(
        migrations.map((migration) => ({ ...migration })),
        values.json,
      )
      return
    }
    default:
      throw new UsageError('db takes url, migrate or status')
  }
}

/** Shows what `db migrate` and the next start will do, and does none of it. */
async function showPlan(config: Config, json: boolean): Promise<void> {
  const plan = await withDatabase(({ sql }) => migrationPlan(sql))
  const backup = plan.length > 0 && isBackedUp(config) ? folderOf(config) : null
  if (json) return print({ migrations: plan, backup_folder: backup }, true)
  print(
    plan.map(({ tables, ...migration }) => ({
      ...migration,
      changes:
        tables
          .map(({ name, rows, bytes }) => `${name} (${rows} rows, ${size(bytes)})`)
          .join(', ') || '-',
    })),
    false,
  )
  if (plan.length > 0) {
    process.stdout.write(
      backup ? `a backup goes to ${backup} first\n` : 'no backup is made first\n',
    )
  }
}

const size = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`
