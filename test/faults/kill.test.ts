import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { installation, ownerOf } from '../support/installation.ts'
import {
  cleanUp,
  type Server,
  spawnServer,
  startServer,
  temporaryFolder,
  until,
  workersIn,
} from '../support/process.ts'

afterEach(cleanUp)

it.each([
  ['the server alone', (server: Server) => server.killNode()],
  ['the server and its PostgreSQL at once', (server: Server) => server.killEverything()],
])('every acknowledged write survives kill -9 of %s', async (_, killIt) => {
  const made = await installation()
  const acknowledged: string[] = []
  for (const round of [1, 2, 3]) {
    const server = await startServer(made)
    expect(await emailsOn(server, made)).toEqual(expect.arrayContaining(acknowledged))
    const before = acknowledged.length
    const writers = Array.from({ length: 6 }, (_, writer) =>
      write(server, made, `round-${round}-writer-${writer}`, acknowledged),
    )
    await until(() => acknowledged.length >= before + 10)
    await killIt(server)
    await Promise.all(writers)
  }
  const server = await startServer(made)
  const emails = await emailsOn(server, made)
  expect(emails).toEqual(expect.arrayContaining(acknowledged))
  expect(new Set(emails).size).toBe(emails.length)
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
})

it.each([
  ['PostgreSQL is being initialized', 'postgres.new/PG_VERSION'],
  ['PostgreSQL is starting', 'postgres/postmaster.pid'],
])('the server starts after a first start that was killed while %s', async (_, file) => {
  const dataDir = join(temporaryFolder(), 'new')
  const interrupted = spawnServer({ dataDir })
  await until(() => existsSync(join(dataDir, file)))
  await interrupted.killNode()

  const server = await startServer({ dataDir })
  expect((await server.health()).status).toBe(200)
  expect(server.output.stderr).toBe('')
  expect(existsSync(join(dataDir, 'postgres.new'))).toBe(false)
  await server.stop()
  expect(workersIn(dataDir)).toEqual([])
})

/** Creates operators until the server has exited. */
async function write(
  server: Server,
  made: { jar: Map<string, string> },
  name: string,
  acknowledged: string[],
): Promise<void> {
  const owner = ownerOf(server, made)
  for (let count = 0; ; count++) {
    const email = `${name}-${count}@ops.test`
    const body = { email, full_name: name, password: PASSWORD, role: 'support' }
    try {
      const { status } = await owner.post('/api/v1/platform/operators', body)
      if (status === 201) acknowledged.push(email)
    } catch {
      return
    }
  }
}

async function emailsOn(server: Server, made: { jar: Map<string, string> }): Promise<string[]> {
  const emails: string[] = []
  for (let page = 1; ; page++) {
    const list = await ownerOf(server, made).get(
      `/api/v1/platform/operators?page=${page}&per_page=100`,
    )
    const items = list.body.data.items as { email: string }[]
    emails.push(...items.map(({ email }) => email))
    if (items.length < 100) return emails
  }
}
