import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../src/lib/free-port.ts'
import { bootstrapBoth } from '../support/installation.ts'
import { cloneDatabase } from '../support/postgres.ts'
import {
  cleanUp,
  run,
  spawnServer,
  startServer,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { missingProgram, skipped } from '../support/programs.ts'
import { openPrograms, type Programs } from '../support/running-programs.ts'
import { waitFor } from '../support/wait.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
const missing = missingProgram('pgbouncer')
const KEY = { SVC_SECRET_KEY: 'the root key of every process here' }

describe.skipIf(missing)(`a server behind pgbouncer${skipped(missing)}`, () => {
  let database: Awaited<ReturnType<typeof cloneDatabase>>
  let programs: Programs
  beforeAll(async () => {
    database = await cloneDatabase(inject('databaseUrl'))
    programs = openPrograms()
  })
  afterAll(async () => {
    await cleanUp()
    await programs.stop()
    await database.drop()
  })

  /** Returns the URL of the database through the pooler. */
  async function pool(mode: 'session' | 'transaction'): Promise<string> {
    const { hostname, port, pathname, username, password } = new URL(database.url)
    const name = pathname.slice(1)
    const own = await freePort()
    const file = (suffix: string) => join(programs.folder, `${mode}.${suffix}`)
    writeFileSync(file('users'), `"${username}" "${decodeURIComponent(password)}"\n`)
    writeFileSync(
      file('ini'),
      `[databases]
${name} = host=${hostname} port=${port} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = plain
auth_file = ${file('users')}
pool_mode = ${mode}
default_pool_size = 20
`,
    )
    for (const suffix of ['users', 'ini']) chmodSync(file(suffix), 0o644)
    programs.start(PROGRAM, [file('ini')])
    const url = new URL(database.url)
    url.hostname = '127.0.0.1'
    url.port = String(own)
    await waitFor(async () => {
      const probe = postgres(url.href, { max: 1, fetch_types: false })
      const answer = await probe`select 1`.catch(() => undefined)
      await probe.end({ timeout: 1 })
      return answer
    })
    return url.href
  }

  it('refuses to start with transaction pooling, in one line that names it', async () => {
    const dataDir = temporaryFolder()
    const server = spawnServer({
      dataDir,
      env: { ...KEY, DATABASE_URL: await pool('transaction') },
    })
    expect(await server.ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'mailplane: notifications of the database do not arrive: DATABASE_URL leads to a proxy with transaction pooling (pgbouncer); use pool_mode = session or connect to PostgreSQL directly\n',
    })
  })

  it('works with session pooling, and refuses a key as soon as it is revoked', async () => {
    const env = { ...KEY, DATABASE_URL: await pool('session') }
    const server = await startServer({ dataDir: temporaryFolder(), env })
    const { organizationId } = await bootstrapBoth(server)
    const make = ['keys', 'create', '--organization', organizationId, '--name', 'k', '--json']
    const { key_id, api_key } = JSON.parse((await run(make, env)).stdout)
    const status = async () =>
      (await server.send('GET', '/api/v1/auth/me', { headers: { 'x-api-key': api_key } })).status
    expect([await status(), await status()]).toEqual([200, 200])
    expect((await run(['keys', 'revoke', key_id], env)).code).toBe(0)
    await until(async () => (await status()) === 401)
  })
})
