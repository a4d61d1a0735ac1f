import { fileURLToPath } from 'node:url'
import { type Callers, makeCallers, open } from '../scale/installation.ts'
import { seed as seedTenants } from '../scale/seed.ts'
import { type Started, start, stopAll } from '../servers.ts'
import { BUSIEST, seed } from './seed.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The built server on a database with many mailboxes and a large mail log. */
export async function startTrafficInstallation(
  dataDir: string,
  rows: number,
  days: number,
  started: Started[],
  env: Record<string, string> = {},
) {
  const serve = () =>
    start(process.execPath, [MAIN, 'serve'], { DATA_DIR: dataDir, PORT: '0', ...env }, started)
  const first = await serve()
  const before = open(dataDir)
  const begin = performance.now()
  await seedTenants(before.sql)
  await seed(before.sql, rows, days)
  const seedSeconds = (performance.now() - begin) / 1000
  const callers: Callers = await makeCallers(before, BUSIEST.organization)
  await before.close()

  // Restart with all rows present, so that no plan made for empty tables remains.
  await stopAll(started.splice(started.indexOf(first), 1))
  const server = await serve()
  return { server, callers, database: open(dataDir), seedSeconds }
}
