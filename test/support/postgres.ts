import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { prepareDataDir } from '../../src/database/data-dir.ts'
import { openDatabase } from '../../src/database/database.ts'
import { startEmbedded, urlOf } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'

/** One PostgreSQL for the whole run, with a migrated database to clone from. */
export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-test-'))
  prepareDataDir(folder)
  const server = await startEmbedded(folder, (message) => process.stderr.write(`${message}\n`))
  const database = openDatabase(server.target, { pool: 1, name: 'template' })
  // Nothing here has to survive a power cut.
  await database.sql.unsafe('alter system set fsync = off')
  await database.sql.unsafe('select pg_reload_conf()')
  await migrate(database.sql)
  await database.close()
  project.provide('databaseUrl', urlOf(server.target))
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A database of its own, copied from the migrated one. */
export async function cloneDatabase(
  templateUrl: string,
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${process.pid}_${Date.now()}_${Math.floor(Math.random() * 1e6)}`
  const url = new URL(templateUrl)
  const template = url.pathname.slice(1)
  const maintenance = new URL(url)
  maintenance.pathname = '/postgres'
  const run = async (statement: string) => {
    const sql = postgres(maintenance.href, { max: 1, onnotice: () => {} })
    try {
      await sql.unsafe(statement)
    } finally {
      await sql.end()
    }
  }
  await run(`create database ${name} template ${template}`)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) }
}

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}
