import postgres from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { VERSION } from '../../version.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('reports unhealthy while the database is unavailable, and healthy after it returns', async () => {
  const name = new URL(app.database.url).pathname.slice(1)
  const elsewhere = new URL(app.database.url)
  elsewhere.pathname = '/postgres'
  const outside = postgres(elsewhere.href, { max: 1, onnotice: () => {} })
  try {
    await outside.unsafe(`alter database ${name} allow_connections false`)
    // A connection that was just being opened may outlive the first round.
    let answer = await app.send('GET', '/health')
    await waitFor(async () => {
      await outside`
        select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`
      answer = await app.send('GET', '/health')
      return answer.status === 503
    })
    expect(answer.body).toEqual({
      status: 'unhealthy',
      service: 'api',
      version: VERSION,
      database: 'failed',
      error: 'The database does not answer',
      correlation_id: answer.headers['x-correlation-id'],
    })
  } finally {
    await outside.unsafe(`alter database ${name} allow_connections true`)
    await outside.end()
  }
  await waitFor(async () => (await app.send('GET', '/health')).status === 200)
})

it('returns status, service, version and database state to anonymous callers, and nothing else', async () => {
  const answer = await app.send('GET', '/health')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    status: 'healthy',
    service: 'api',
    version: VERSION,
    database: 'connected',
  })
})

it('is not ready while a migration of this version is missing, and alive all the time', async () => {
  expect(await app.send('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
  const sql = postgres(app.database.url, { max: 1 })
  const [last] = await sql`delete from schema_migrations
    where name = (select max(name) from schema_migrations) returning name, checksum`
  expect(await app.send('GET', '/readyz')).toMatchObject({
    status: 503,
    body: { status: 'not ready', error: 'Migrations of the database are missing' },
  })
  expect(await app.send('GET', '/livez')).toMatchObject({ status: 200, body: { status: 'alive' } })
  await sql`insert into schema_migrations ${sql(last as { name: string; checksum: string })}`
  expect((await app.send('GET', '/readyz')).status).toBe(200)
  await sql.end()
})
