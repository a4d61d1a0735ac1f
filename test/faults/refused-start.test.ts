import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, inject, it } from 'vitest'
import { installation } from '../support/installation.ts'
import {
  cleanUp,
  spawnServer,
  startServer,
  temporaryFolder,
  workersIn,
} from '../support/process.ts'

afterEach(cleanUp)

type Start = Parameters<typeof spawnServer>[0]

/** One line that says what is wrong, a status that is not 0, and nothing left running. */
async function expectRefusal(start: Start, message: RegExp) {
  const { code, stdout, stderr } = await spawnServer(start).ended
  expect(stderr).toMatch(/^mailplane: [^\n]+\n$/)
  expect(stderr).toMatch(message)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
}

async function busyPort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return { port: String(port), free: () => new Promise((resolve) => server.close(resolve)) }
}

it.each([
  ['PORT', 'abc', /PORT must be a whole number from 0 to 65535, but is "abc"/],
  ['SVC_EDITION', 'foo', /SVC_EDITION must be one of enterprise, community, but is "foo"/],
  ['SVC_TRUSTED_PROXIES', 'nonsense', /SVC_TRUSTED_PROXIES must be .*, but is "nonsense"/],
  ['SVC_SECRET_KEY', 'too-short', /SVC_SECRET_KEY must be 32 characters or more(?!.*too-short)/],
  ['DATABASE_URL', 'mysql://me:hidden@db/x', /DATABASE_URL must be .*…@db\/x(?!.*hidden)/],
  ['HOST', 'no.host.invalid', /HOST no\.host\.invalid is not an address of this machine/],
])('names the variable when %s is %s', async (name, value, message) => {
  const dataDir = temporaryFolder()
  await expectRefusal({ dataDir, env: { [name]: value } }, message)
  expect(workersIn(dataDir)).toEqual([])
})

it('names the service that --services does not know', async () => {
  const start = { dataDir: temporaryFolder(), args: ['--services', 'foo'] }
  await expectRefusal(start, /--services names the unknown service "foo"; there are: api/)
})

it('says that the DATA_DIR is in use, and leaves its server alone', async () => {
  const { dataDir } = await installation()
  const first = await startServer({ dataDir })
  await expectRefusal({ dataDir }, /DATA_DIR .* is in use by another Mailplane/)
  expect((await first.health()).status).toBe(200)
})

it('says that the port is in use, and stops the PostgreSQL it had started', async () => {
  const { dataDir } = await installation()
  const { port, free } = await busyPort()
  await expectRefusal({ dataDir, env: { PORT: port } }, new RegExp(`port ${port} .* is in use`))
  expect(workersIn(dataDir)).toEqual([])
  await free()
  expect((await (await startServer({ dataDir, env: { PORT: port } })).health()).status).toBe(200)
})

it('says that a file stands in the place of the DATA_DIR', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  writeFileSync(dataDir, '')
  await expectRefusal({ dataDir }, /DATA_DIR .* cannot be read and written \(E(NOTDIR|EXIST)\)/)
})

it('says that the DATA_DIR cannot be read', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  mkdirSync(dataDir, { mode: 0o000 })
  chmodSync(join(dataDir, '..'), 0o755)
  // Root may read everything; nobody may not.
  const uid = process.getuid?.() === 0 ? 65534 : undefined
  if (uid) chownSync(dataDir, uid, uid)
  await expectRefusal(
    { dataDir, ...(uid && { uid }) },
    /DATA_DIR .* cannot be read and written \(EACCES\)/,
  )
})

it('says that the root key is not the one of the database, and that one still works', async () => {
  const { dataDir } = await installation()
  const wrong = { SVC_SECRET_KEY: 'another root key than the one of before' }
  await expectRefusal({ dataDir, env: wrong }, /SVC_SECRET_KEY is not the key/)
  expect(workersIn(dataDir)).toEqual([])
  expect((await (await startServer({ dataDir })).health()).status).toBe(200)
})

it('says that the external database does not answer or refuses, without the password', async () => {
  const dataDir = temporaryFolder()
  const { port, free } = await busyPort()
  await free()
  await expectRefusal(
    { dataDir, env: { DATABASE_URL: `postgres://me:hidden@127.0.0.1:${port}/db` } },
    /the database of DATABASE_URL does not answer \(ECONNREFUSED\)(?!.*hidden)/,
  )
  const url = new URL(inject('databaseUrl'))
  url.password = 'hidden'
  await expectRefusal(
    { dataDir, env: { DATABASE_URL: url.href } },
    /the database refuses: password authentication failed .*(?!.*hidden)/,
  )
})
