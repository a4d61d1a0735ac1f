import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { passphraseOf } from '../backup/backup.ts'
import { type DrillReport, drill } from '../backup/drill.ts'
import { folderOf, stampOf } from '../backup/files.ts'
import type { Config } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import { checksumOf, recordDrill } from '../features/platform/backups/backups.repository.ts'
import { StartupError } from '../startup-error.ts'
import type { BackupPlaces } from './backup-places.ts'
import { print } from './output.ts'
import { deadline, withDatabase } from './with-database.ts'

/** Restores a backup for a test, writes a report and records the result. */
export async function drillCommand(
  config: Config,
  places: BackupPlaces,
  location: string,
  { json, report: out }: { json: boolean; report?: string },
): Promise<void> {
  passphraseOf(config)
  const soon = deadline(config)
  const source = await places.find(location)
  const { report, path } = await withDatabase(async ({ db, sql }) => {
    await soon(requireMigrated(sql))
    const made = await drill({
      config,
      source,
      checksumOf: (backupId) => soon(checksumOf(db, backupId)),
      begin: (step) => json || process.stderr.write(`${step}\n`),
      now: () => new Date(),
    })
    const started = new Date(made.started_at)
    const file = resolve(out ?? join(folderOf(config), `drill-${stampOf(started)}.json`))
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true })
    const { backup_id, finished_at, passed } = made
    const seconds = (Date.parse(finished_at) - started.getTime()) / 1000
    const problems = problemsOf(made)
    const found = { backup_id, location: made.location, finished_at, seconds, passed, problems }
    await soon(recordDrill(db, found))
    return { report: made, path: file }
  })
  if (json) print({ ...report, report: path }, true)
  else {
    const { steps, ...rest } = report
    print({ ...rest, report: path }, false)
    print(
      steps.map(({ problems, ...step }) => ({ ...step, problems: problems.length })),
      false,
    )
  }
  if (!report.passed) {
    throw new StartupError(`the drill found problems: ${problemsOf(report).join('; ')}`)
  }
}

const problemsOf = ({ steps }: DrillReport): string[] =>
  steps.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))
