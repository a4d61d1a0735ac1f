import type { Sql } from 'postgres'
import type { Config } from '../config/index.ts'
import { vault } from '../lib/vault.ts'
import { passphraseOf, ROOT_KEY, recordsOf, type Source, verifyBackup } from './backup.ts'
import { tablesOf } from './dump.ts'
import { load } from './load.ts'
import { withScratch } from './scratch.ts'
import { watchProgress } from './watch.ts'

/** Secrets of every purpose that are tried; a wrong root key opens none of them. */
const SAMPLE = 20
const SEALED = [
  { table: 'totp_enrollments', column: 'secret', purpose: 'totp secret' },
  { table: 'dkim_keys', column: 'private_key', purpose: 'dkim private key' },
  { table: 'oauth_keys', column: 'private_key', purpose: 'oauth signing key' },
  { table: 'webhook_endpoints', column: 'secret', purpose: 'webhook endpoint secret' },
  { table: 'organizations', column: 'webhook_secret', purpose: 'organization webhook secret' },
  { table: 'archive_keys', column: 'sealed_identity', purpose: 'archive identity' },
]

interface Step {
  name: string
  seconds: number
  /** Things that were looked at: tables, foreign keys, secrets. */
  checked: number
  problems: string[]
}

export interface DrillReport {
  backup_id: string | null
  location: string
  backup_created_at: string | null
  backup_version: string | null
  started_at: string
  finished_at: string
  passed: boolean
  rows: number
  /** Migrations of this version that the backup did not have. */
  applied: string[]
  steps: Step[]
}

interface Drilling {
  config: Config
  source: Source
  /** The checksum that was recorded for a run; undefined when there is none. */
  checksumOf(backupId: string): Promise<string | null | undefined>
  /** Called when a step begins. */
  begin(step: string): void
  now(): Date
}

/** Restores a backup into a database of its own and checks what is there. Changes nothing else. */
export async function drill({ config, source, checksumOf, begin, now }: Drilling) {
  const steps: Step[] = []
  const report: DrillReport = {
    backup_id: null,
    location: source.name,
    backup_created_at: null,
    backup_version: null,
    started_at: now().toISOString(),
    finished_at: '',
    passed: false,
    rows: 0,
    applied: [],
    steps,
  }
  const watch = watchProgress(config.BACKUP_TIMEOUT_SECONDS)
  /** A step that throws ends the drill; one that finds problems does not. */
  const step = async (name: string, work: (problems: string[]) => Promise<number>) => {
    begin(name)
    watch.step(name)
    const started = performance.now()
    const done: Step = { name, seconds: 0, checked: 0, problems: [] }
    steps.push(done)
    try {
      done.checked = await watch.guard(work(done.problems))
    } catch (error) {
      done.problems.push((error as Error).message)
      throw error
    } finally {
      done.seconds = Math.round(performance.now() - started) / 1000
    }
  }
  const passphrase = passphraseOf(config)
  try {
    await step('read the file', async (problems) => {
      const { about, tables, checksum } = await verifyBackup(source, passphrase, watch.moved)
      report.backup_id = about.backup_id
      report.backup_created_at = about.created_at
      report.backup_version = about.version
      const recorded = await checksumOf(about.backup_id)
      if (recorded && recorded !== checksum) {
        problems.push(`SHA-256 is ${checksum}, the record of the run has ${recorded}`)
      }
      return tables
    })
    await withScratch(config, async ({ sql }) => {
      const counts = new Map<string, number>()
      let rootKey = ''
      await step('restore', async () => {
        const loaded = await load(sql, recordsOf(source, passphrase, watch.moved), {
          force: true,
          files: (files) => {
            rootKey = files.find(({ name }) => name === ROOT_KEY)?.text ?? ''
          },
          migrating: watch.without,
          progress: (table, rows) => {
            watch.moved()
            counts.set(table, rows)
          },
        })
        report.rows = loaded.rows
        report.applied = loaded.applied
        return counts.size
      })
      // A later migration may add and remove rows.
      if (report.applied.length === 0) {
        await step('count rows', (problems) => countRows(sql, counts, problems, watch.moved))
      }
      await step('check foreign keys', (problems) => checkReferences(sql, problems, watch.moved))
      await step('open secrets', (problems) => openSecrets(sql, rootKey, problems))
    })
  } catch {
    // The step has it.
  } finally {
    watch.end()
  }
  report.finished_at = now().toISOString()
  report.passed = steps.every(({ problems }) => problems.length === 0)
  return report
}

async function countRows(
  sql: Sql,
  expected: Map<string, number>,
  problems: string[],
  moved: () => void,
): Promise<number> {
  const tables = await tablesOf(sql)
  for (const { schema, name } of tables) {
    const [row] = await sql`select count(*) from ${sql(schema)}.${sql(name)}`
    moved()
    if (Number(row?.count) !== expected.get(name)) {
      problems.push(`${name} has ${row?.count} rows, the backup has ${expected.get(name)}`)
    }
  }
  return tables.length
}

/** Rows are loaded without their triggers, so PostgreSQL has not checked their references. */
async function checkReferences(sql: Sql, problems: string[], moved: () => void): Promise<number> {
  const references = await sql<{ name: string; child: string; parent: string; keys: Keys }[]>`
    select conname as name, conrelid::regclass::text as child, confrelid::regclass::text as parent,
      (select json_agg(json_build_array(child.attname, parent.attname) order by key.position)
       from unnest(conkey, confkey) with ordinality as key (own, other, position)
       join pg_attribute child on child.attrelid = conrelid and child.attnum = key.own
       join pg_attribute parent on parent.attrelid = confrelid and parent.attnum = key.other) as keys
    from pg_constraint where contype = 'f' and conparentid = 0 order by child, name`
  for (const { name, child, parent, keys: sent } of references) {
    const keys = typeof sent === 'string' ? (JSON.parse(sent) as Keys) : sent
    const quoted = keys.map((pair) => pair.map((column) => `"${column}"`))
    const isSet = quoted.map(([own]) => `c.${own} is not null`).join(' and ')
    const equal = quoted.map(([own, other]) => `p.${other} = c.${own}`).join(' and ')
    const [row] = await sql.unsafe(
      `select count(*) from ${child} c where ${isSet} and not exists (select from ${parent} p where ${equal})`,
    )
    moved()
    if (Number(row?.count) > 0) problems.push(`${child}: ${row?.count} rows violate ${name}`)
  }
  return references.length
}

/** Pairs of a column and the column that it refers to. */
type Keys = [string, string][]

async function openSecrets(sql: Sql, rootKey: string, problems: string[]): Promise<number> {
  const { open } = vault(rootKey)
  let opened = 0
  const samples = [
    ...(await sql`select value as sealed from settings where name = 'root key check'`).map(
      ({ sealed }) => ({ table: 'settings', purpose: 'root key check', sealed }),
    ),
  ]
  if (samples.length === 0) problems.push('settings: the value that proves the root key is missing')
  for (const { table, column, purpose } of SEALED) {
    const rows = await sql`
      select ${sql(column)} as sealed from ${sql(table)}
      where ${sql(column)} is not null order by random() limit ${SAMPLE}`
    samples.push(...rows.map(({ sealed }) => ({ table, purpose, sealed })))
  }
  for (const { table, purpose, sealed } of samples) {
    try {
      open(purpose, sealed)
      opened++
    } catch {
      problems.push(`${table}: a secret cannot be opened with the root key of the backup`)
    }
  }
  return opened
}
