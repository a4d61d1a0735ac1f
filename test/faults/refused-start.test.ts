import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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

/** Expects one line that names the problem, a non-zero exit status, and no process left. */
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
])('a start with %s=%s fails and names the variable', async (name, value, message) => {
  const dataDir = temporaryFolder()
  await expectRefusal({ dataDir, env: { [name]: value } }, message)
  expect(workersIn(dataDir)).toEqual([])
})

it('a start with an unknown --services value fails and names it', async () => {
  const start = { dataDir: temporaryFolder(), args: ['--services', 'foo'] }
  await expectRefusal(start, /--services names the unknown service "foo"; there are: api/)
})

it('a start on a DATA_DIR in use fails and leaves its server running', async () => {
  const { dataDir } = await installation()
  const first = await startServer({ dataDir })
  await expectRefusal({ dataDir }, /DATA_DIR .* is in use by another Mailplane/)
  expect((await first.health()).status).toBe(200)
})

it('a start on a port in use fails and stops the PostgreSQL it started', async () => {
  const { dataDir } = await installation()
  const { port, free } = await busyPort()
  await expectRefusal({ dataDir, env: { PORT: port } }, new RegExp(`port ${port} .* is in use`))
  expect(workersIn(dataDir)).toEqual([])
  await free()
  expect((await (await startServer({ dataDir, env: { PORT: port } })).health()).status).toBe(200)
})

it('a start fails when DATA_DIR is a file', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  writeFileSync(dataDir, '')
  await expectRefusal({ dataDir }, /DATA_DIR .* cannot be read and written \(E(NOTDIR|EXIST)\)/)
})

it('a start fails when DATA_DIR is not readable', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  mkdirSync(dataDir, { mode: 0o000 })
  chmodSync(join(dataDir, '..'), 0o755)
  // Root can read everything; the user nobody cannot.
  const uid = process.getuid?.() === 0 ? 65534 : undefined
  if (uid) chownSync(dataDir, uid, uid)
  try {
    await expectRefusal(
      { dataDir, ...(uid && { uid }) },
      /DATA_DIR .* cannot be read and written \(EACCES\)/,
    )
  } finally {
    // An ordinary user could not remove it (N8).
    chmodSync(dataDir, 0o700)
  }
})

it('a start with another root key fails, and the right one still works', async () => {
  const { dataDir } = await installation()
  const wrong = { SVC_SECRET_KEY: 'another root key than the one of before' }
  await expectRefusal({ dataDir, env: wrong }, /SVC_SECRET_KEY is not the key/)
  // N13: without the variable the message names the file.
  const file = join(dataDir, 'secret-key')
  const right = readFileSync(file)
  writeFileSync(file, wrong.SVC_SECRET_KEY)
  await expectRefusal(
    { dataDir },
    /the key in \S+\/secret-key is not the key .*; set SVC_SECRET_KEY to that key, or restore/,
  )
  writeFileSync(file, right)
  expect(workersIn(dataDir)).toEqual([])
  expect((await (await startServer({ dataDir })).health()).status).toBe(200)
})

it('a start without a working external database fails and hides its password', async () => {
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
