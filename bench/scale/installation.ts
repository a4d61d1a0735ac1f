import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { issueKey } from '../../src/access/api-keys.ts'
import { insertSession } from '../../src/access/sessions.repository.ts'
import { COOKIES } from '../../src/access/sessions.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import { randomToken, sha256 } from '../../src/lib/tokens.ts'
import { ulid } from '../../src/lib/ulid.ts'
import { bootstrap } from '../bootstrap.ts'
import { type Started, start, stopAll } from '../servers.ts'
import { idOf, seed } from './seed.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** Headers by caller: over all tenants, as the large tenant, or from the console. */
export type Callers = Record<'platform' | 'tenant' | 'operator', Record<string, string>>

export interface Installation {
  server: Started
  callers: Callers
  database: Database
  seedSeconds: number
  postgresLog: string
}

/** The built server on a database with many tenants. */
export async function startInstallation(
  dataDir: string,
  started: Started[],
): Promise<Installation> {
  const serve = () =>
    start(process.execPath, [MAIN, 'serve'], { DATA_DIR: dataDir, PORT: '0' }, started)
  const first = await serve()
  await bootstrap(first.url, dataDir)

  const before = open(dataDir)
  const begin = performance.now()
  await seed(before.sql)
  const seedSeconds = (performance.now() - begin) / 1000
  const callers = await makeCallers(before, idOf('O', 1))
  // auto_explain is loaded by every connection and stays silent until the plans are collected.
  await before.sql`alter system set session_preload_libraries = 'auto_explain'`
  await before.sql`alter system set auto_explain.log_format = 'json'`.simple()
  await before.close()

  // Restart with all rows present, so that no plan made for empty tables remains.
  await stopAll(started.splice(started.indexOf(first), 1))
  const server = await serve()
  const postgresLog = join(dataDir, 'logs', 'postgres.log')
  return { server, callers, database: open(dataDir), seedSeconds, postgresLog }
}

/** Connects to the embedded database of a running server. */
export function open(dataDir: string): Database {
  const target = runningEmbedded(dataDir)
  if (!target) throw new Error('the embedded PostgreSQL is not running')
  return openDatabase(target, { pool: 2, name: 'bench' })
}

export async function makeCallers({ db }: Database, tenant: string): Promise<Callers> {
  const keyOf = async (scope: 'platform' | 'organization', organizationId: string | null) => {
    const permissions = { read: true, write: true, admin_access: true }
    const key = { name: 'scale', organizationId, scope, permissions, expiresAt: null }
    return { 'x-api-key': (await issueKey(db, key)).api_key }
  }
  const operatorId = ulid()
  await db
    .insertInto('operators')
    .values({
      id: operatorId,
      email: 'operator@bench.example',
      full_name: 'Bench',
      password_hash: 'none',
      role: 'support',
    })
    .execute()
  const token = randomToken()
  const tomorrow = new Date(Date.now() + DAY_MS)
  await insertSession(db, {
    id: ulid(),
    kind: 'operator',
    subjectId: operatorId,
    tokenHash: sha256(token),
    csrfHash: sha256(randomToken()),
    ip: '127.0.0.1',
    userAgent: null,
    clientPlatform: null,
    mfaSatisfied: true,
    idleSeconds: 3600,
    expiresAt: tomorrow,
    absoluteExpiry: tomorrow,
    createdAt: new Date(),
  })
  return {
    platform: await keyOf('platform', null),
    tenant: await keyOf('organization', tenant),
    operator: { cookie: `${COOKIES.operator.session}=${token}` },
  }
}
