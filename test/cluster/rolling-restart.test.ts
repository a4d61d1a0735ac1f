import postgres from 'postgres'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { knownMigrations } from '../../src/database/migrations.ts'
import { freePort } from '../../src/lib/free-port.ts'
import { haproxyMissing, startHaproxy } from '../support/haproxy.ts'
import { cloneDatabase, emptyDatabase } from '../support/postgres.ts'
import { cleanUp, MAIN, run, startServer, temporaryFolder, until } from '../support/process.ts'
import { builtRelease, releases } from '../support/releases.ts'
import { startWriters } from '../support/writers.ts'

afterAll(cleanUp)

const title = 'processes behind haproxy'
describe.skipIf(haproxyMissing)(`${title}${haproxyMissing && `: ${haproxyMissing}`}`, () => {
  it('are restarted one after the other under load with no answer but 201', () =>
    roll(MAIN, cloneDatabase))

  it.each(releases)(
    'of release $version are upgraded one after the other under load with no answer but 201',
    (release) => roll(builtRelease(release), emptyDatabase),
  )

  /** Begins with the program `main`, and replaces each process by this version. */
  async function roll(main: string, databaseFor: typeof cloneDatabase) {
    const database = await databaseFor(inject('databaseUrl'))
    const env = {
      DATABASE_URL: database.url,
      SVC_SECRET_KEY: 'the root key that both processes have',
      SVC_DRAIN_SECONDS: '3',
      SVC_DOMAIN_OWNERSHIP: 'off',
    }
    const ports = [await freePort(), await freePort()] as const
    const start = (port: number, program = MAIN) =>
      startServer({
        main: program,
        dataDir: temporaryFolder(),
        env: { ...env, PORT: String(port) },
        args: ['--services', 'api'],
      })
    const servers = await Promise.all(ports.map((port) => start(port, main)))
    const sql = postgres(database.url, { max: 1, onnotice: () => {} })
    await sql`insert into organizations (id, name) values ('acme', 'Acme')`
    const created = await run(
      ['keys', 'create', '--organization', 'acme', '--name', 'load', '--json'],
      { ...env, DATA_DIR: temporaryFolder() },
      main,
    )
    const proxy = await startHaproxy(...ports)
    const writers = startWriters({
      base: () => proxy.base,
      apiKey: JSON.parse(created.stdout).api_key,
      writers: 4,
      prefix: 'rolled',
    })
    for (const [index, port] of ports.entries()) {
      const before = writers.acknowledged.length
      await until(() => writers.acknowledged.length >= before + 20)
      const stopped = servers[index]?.stop()
      await until(
        async () =>
          (await servers[index]?.send('GET', '/readyz').catch(() => undefined))?.status !== 200,
      )
      expect(await stopped).toMatchObject({ code: 0, stderr: '' })
      servers[index] = await start(port)
      await until(async () => (await servers[index]?.send('GET', '/readyz'))?.status === 200)
      // The balancer has to see the new process before the other one may go.
      const since = writers.acknowledged.length
      await until(async () => {
        const counted = await servers[index]?.send('GET', '/metrics')
        return /path="\/api\/v1\/domains\/",status_code="201"/.test(counted?.text ?? '')
      })
      expect(writers.acknowledged.length).toBeGreaterThanOrEqual(since)
    }
    await writers.stop()
    expect([...writers.outcomes.keys()]).toEqual(['201'])
    const applied = await sql`select name from schema_migrations order by name`
    expect(applied.map(({ name }) => name)).toEqual(knownMigrations().map(({ name }) => name))
    const rows = await sql`select domain from domains`
    const stored = new Set(rows.map(({ domain }) => domain))
    expect(writers.acknowledged.filter((domain) => !stored.has(domain))).toEqual([])
    await proxy.stop()
    for (const server of servers) await server?.stop()
    await sql.end()
    await database.drop()
  }
})
