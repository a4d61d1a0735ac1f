import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { keptSecret, prepareDataDir } from '../../src/database/data-dir.ts'
import { connect, EMBEDDED_NAME, openDatabase } from '../../src/database/database.ts'
import { startEmbedded, urlOf } from '../../src/database/embedded.ts'
import { postgresBinaries } from '../../src/database/embedded-binaries.ts'
import { knownMigrations, migrate } from '../../src/database/migrate.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Enough for the servers of several test files at a time. */
const CONNECTIONS = 500
const report = (message: string) => process.stderr.write(`${message}\n`)

/** Starts one PostgreSQL for a test project, with a migrated database as template. */
export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-test-'))
  execFileSync('cp', ['-a', `${await migratedDataDir()}/.`, folder])
  const server = await startEmbedded(folder, report, { connections: CONNECTIONS })
  project.provide('databaseUrl', urlOf(server.target))
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A migrated data folder, cached between runs by the checksum of its sources. */
async function migratedDataDir(): Promise<string> {
  const cache = join(root, 'node_modules', '.cache', 'mailplane-template')
  const cached = join(cache, templateChecksum())
  if (existsSync(cached)) return cached
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(`${cached}.`)
  prepareDataDir(folder)
  const server = await startEmbedded(folder, report)
  const database = openDatabase(server.target, { pool: 1, name: 'template' })
  // Test data need not survive a power cut, and its password protects nothing.
  await database.sql.unsafe('alter system set fsync = off')
  await database.sql.unsafe('set scram_iterations = 1')
  await database.sql.unsafe(
    `alter role ${EMBEDDED_NAME} password '${keptSecret(folder, 'postgres-password')}'`,
  )
  await migrate(database.sql)
  await database.close()
  await server.stop()
  // Every copy gets a port of its own.
  rmSync(join(folder, 'postgres-port'))
  renameSync(folder, cached)
  return cached
}

function templateChecksum(): string {
  const hash = createHash('sha256')
  hash.update(`${postgresBinaries()} ${process.getuid?.()} ${readFileSync(import.meta.filename)}`)
  for (const { name, checksum } of knownMigrations()) hash.update(`${name} ${checksum}`)
  return hash.digest('hex').slice(0, 16)
}

/** Creates a database as a copy of the migrated template. */
export const cloneDatabase = (templateUrl: string) =>
  createDatabase(templateUrl, new URL(templateUrl).pathname.slice(1))

/** Creates a database without any table, for upgrades. */
export const emptyDatabase = (templateUrl: string) => createDatabase(templateUrl, 'template0')

async function createDatabase(
  templateUrl: string,
  template: string,
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${process.pid}_${Date.now()}_${Math.floor(Math.random() * 1e6)}`
  const url = new URL(templateUrl)
  const maintenance = new URL(url)
  maintenance.pathname = '/postgres'
  const run = async (statement: string) => {
    const sql = connect(maintenance.href, { max: 1, connect_timeout: 120 })
    try {
      await sql.unsafe(statement)
    } finally {
      await sql.end()
    }
  }
  await run(`create database ${name} template ${template} strategy file_copy`)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) }
}

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}
