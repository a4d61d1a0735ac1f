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

it('is unhealthy while the database is away, and healthy again when it is back', async () => {
  const name = new URL(app.database.url).pathname.slice(1)
  const elsewhere = new URL(app.database.url)
  elsewhere.pathname = '/postgres'
  const outside = postgres(elsewhere.href, { max: 1, onnotice: () => {} })
  try {
    await outside.unsafe(`alter database ${name} allow_connections false`)
    await outside`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    const answer = await app.send('GET', '/health')
    expect(answer.status).toBe(503)
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

it('tells the world that the service works, and nothing else', async () => {
  const answer = await app.send('GET', '/health')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    status: 'healthy',
    service: 'api',
    version: VERSION,
    database: 'connected',
  })
})
