import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, expect, inject, it } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { PASSWORD } from '../support/app.ts'
import { installation, ownerOf } from '../support/installation.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, kill, startServer, until } from '../support/process.ts'

afterEach(cleanUp)

const postmasterOf = (folder: string) =>
  Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0])

it('the server is unhealthy while PostgreSQL is down and recovers by itself', async () => {
  const made = await installation()
  const server = await startServer(made)
  // PostgreSQL cannot restart while its folder is elsewhere.
  const folder = join(made.dataDir, 'postgres')
  renameSync(folder, `${folder}.away`)
  kill(postmasterOf(`${folder}.away`))
  await until(async () => (await server.health()).status === 503)
  expect((await server.health()).body).toMatchObject({ status: 'unhealthy', database: 'failed' })
  renameSync(`${folder}.away`, folder)

  await until(async () => (await server.health()).status === 200)
  const headers = { 'x-api-key': made.apiKey }
  expect((await server.send('GET', '/api/v1/auth/me', { headers })).status).toBe(200)
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
})

it('the server keeps serving and loses nothing when PostgreSQL is killed under load', async () => {
  const made = await installation()
  const server = await startServer(made)
  const owner = ownerOf(server, made)
  const create = (email: string) =>
    owner.post('/api/v1/platform/operators', {
      email,
      full_name: 'Writer',
      password: PASSWORD,
      role: 'support',
    })
  const acknowledged: string[] = []
  let failures = 0
  let ended = false
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let count = 0; !ended; count++) {
      const { status, body } = await create(`writer-${writer}-${count}@ops.test`)
      if (status === 201) acknowledged.push(body.data.id)
      else failures++
    }
  })
  for (const round of [1, 2, 3]) {
    await until(() => acknowledged.length >= round * 8)
    const failedBefore = failures
    kill(postmasterOf(join(made.dataDir, 'postgres')))
    await until(() => failures > failedBefore)
    await until(async () => (await server.health()).status === 200)
  }
  ended = true
  await Promise.all(writers)

  // More requests at once than connections: no connection may have leaked.
  const after = await Promise.all(
    Array.from({ length: 12 }, (_, index) => create(`after-${index}@ops.test`)),
  )
  expect(after.map(({ status }) => status)).toEqual(Array(12).fill(201))
  for (const id of acknowledged) {
    expect((await owner.get(`/api/v1/platform/operators/${id}`)).status).toBe(200)
  }
})

it('a transaction whose connection was lost stores nothing, including later statements', async () => {
  const clone = await cloneDatabase(inject('databaseUrl'))
  const database = openDatabase(clone.url, { pool: 2, name: 'lost' })
  const store = (db: typeof database.db, name: string) =>
    db
      .insertInto('settings')
      .values({ name, value: Buffer.from('x') })
      .execute()
  const lost = database.db.transaction().execute(async (tx) => {
    await store(tx as never, 'before')
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(database.db)
    await store(tx as never, 'after')
  })
  await expect(lost).rejects.toThrow()

  expect(await database.db.selectFrom('settings').selectAll().execute()).toEqual([])
  await database.db.transaction().execute((tx) => store(tx as never, 'again'))
  expect(await database.db.selectFrom('settings').select('name').execute()).toEqual([
    { name: 'again' },
  ])
  await database.close()
  await clone.drop()
})
