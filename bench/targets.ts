import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { connect, type Target as DatabaseTarget, EMBEDDED_NAME } from '../src/database/database.ts'
import { runningEmbedded } from '../src/database/embedded.ts'
import { bootstrap } from './bootstrap.ts'
import type { Target } from './compare.ts'
import type { LoadRequest } from './load.ts'
import { type Started, start } from './servers.ts'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
type Database = Exclude<DatabaseTarget, string>

const SEEDED_ROWS = 10_000
const PYTHON = '/usr/bin/python3'

/** Starts one process per server; the ones that read rows share the embedded PostgreSQL. */
export async function startTargets(dataDir: string, started: Started[]): Promise<Target[]> {
  const node = (path: string, args: string[] = [], environment = {}) =>
    start(process.execPath, [file(path), ...args], environment, started)

  const bare = await node('./baselines/node-http.ts')
  const fastify = await node('./baselines/fastify.ts')
  const own = { DATA_DIR: dataDir, PORT: '0' }
  const mailplane = await node('../dist/main.js', ['serve'], own)
  const { api_key, organization_id } = await bootstrap(mailplane.url, dataDir)
  const database = runningEmbedded(dataDir)
  if (typeof database !== 'object') throw new Error('the embedded PostgreSQL is not running')
  const id = await seed(database, organization_id)
  const rows = await node('./server.ts', [], own)

  const domains = '/api/v1/bench-domains'
  const headers = { 'x-api-key': api_key }
  const get = (server: Started, path: string, headers = {}): LoadRequest => ({
    port: server.port,
    method: 'GET',
    path,
    headers,
    status: 200,
  })

  const targets: Target[] = [
    { name: 'bare node:http, constant JSON', request: get(bare, '/') },
    { name: 'bare Fastify, constant JSON', request: get(fastify, '/') },
    { name: 'Mailplane, GET /api/v1/auth/me', request: get(mailplane, '/api/v1/auth/me', headers) },
    { name: 'Mailplane, row by id', request: get(rows, `${domains}/${id}`, headers) },
    {
      name: 'Mailplane, insert',
      request: {
        port: rows.port,
        method: 'POST',
        path: domains,
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"domain":"{n}.bench.example"}',
        status: 201,
      },
    },
  ]
  if (spawnSync(PYTHON, ['-c', 'import fastapi, asyncpg, uvicorn, uvloop']).status === 0) {
    const fastapi = await startFastApi(database, organization_id, started)
    targets.push({ name: 'FastAPI + asyncpg, row by id', request: get(fastapi, `/domains/${id}`) })
  }
  return targets
}

/**
 * Inserts many rows and analyzes them. Statements planned for a few rows would scan the whole
 * organization once the inserts have begun.
 */
async function seed(database: Database, organizationId: string): Promise<string> {
  const sql = connect(database, { max: 1 })
  try {
    await sql`
      insert into domains (id, organization_id, domain)
      select 'bench-' || n, ${organizationId}, 'seed-' || n || '.bench.example'
      from generate_series(1, ${SEEDED_ROWS}::int) as n`
    await sql`analyze domains`
  } finally {
    await sql.end()
  }
  return `bench-${SEEDED_ROWS / 2}`
}

function startFastApi(database: Database, organizationId: string, started: Started[]) {
  const app = ['fastapi_rows:app', '--app-dir', file('./baselines')]
  const options = ['--host', '127.0.0.1', '--port', '0', '--loop', 'uvloop', '--no-access-log']
  const environment = {
    PGHOST: database.host,
    PGPORT: String(database.port),
    PGPASSWORD: database.password,
    PGUSER: EMBEDDED_NAME,
    PGDATABASE: EMBEDDED_NAME,
    ORGANIZATION_ID: organizationId,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  return start(PYTHON, ['-m', 'uvicorn', ...app, ...options], environment, started)
}
