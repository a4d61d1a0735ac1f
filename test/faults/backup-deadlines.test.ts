import { spawn } from 'node:child_process'
import { existsSync, readdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stampOf } from '../../src/backup/files.ts'
import { installation, ownerOf } from '../support/installation.ts'
import {
  cleanUp,
  MAIN,
  run,
  type Server,
  startServer,
  temporaryFolder,
} from '../support/process.ts'
import { startStallingProxy } from '../support/stalling-proxy.ts'
import { waitFor } from '../support/wait.ts'

let made: Awaited<ReturnType<typeof installation>>
let server: Server
let proxy: Awaited<ReturnType<typeof startStallingProxy>>
let folder: string
/** With time for a slow machine. */
let patient: Record<string, string>
/** For commands that are expected to give up. */
let env: Record<string, string>

beforeAll(async () => {
  made = await installation()
  server = await startServer(made)
  const { stdout } = await run(['db', 'url'], { DATA_DIR: made.dataDir })
  proxy = await startStallingProxy(stdout.trim())
  folder = temporaryFolder()
  patient = { DATA_DIR: made.dataDir, BACKUP_PASSPHRASE: 'a passphrase to remember' }
  env = { ...patient, BACKUP_TIMEOUT_SECONDS: '5' }
})
afterAll(async () => {
  await proxy.stop()
  await server.stop()
  await cleanUp()
})

const throughProxy = () => ({ ...env, DATABASE_URL: proxy.url, BACKUP_DIR: folder })
const runs = async (status: string) => {
  const list = await ownerOf(server, made).get(`/api/v1/platform/backups?status=${status}`)
  return list.body.data.items as { backup_id: string; error: string | null }[]
}

it('ends with the name of the folder when the folder cannot be written', async () => {
  // Root may write everywhere, but not here.
  const file = '/proc/self/one.backup'
  const refused = await run(['backup', '--out', file], patient)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/\/proc\/self\/one\.backup cannot be written \(E[A-Z]+\)/)
  expect((await runs('failed'))[0]?.error).toContain('cannot be written')

  const notFolder = await run(['backup'], { ...patient, BACKUP_DIR: MAIN })
  expect(notFolder.code).toBe(1)
  expect(notFolder.stderr).toContain('cannot be written')
})

it('ends with a clear error when the disk is full, and leaves no file', async () => {
  const file = join(folder, 'full.backup')
  symlinkSync('/dev/full', `${file}.unfinished`)
  const refused = await run(['backup', '--out', file], patient)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('no space left')
  expect(readdirSync(folder)).toEqual([])
})

it('ends when the database falls silent in the middle of a table', async () => {
  proxy.stallAt('Acme')
  const refused = await run(['backup'], throughProxy())
  proxy.stallAt(undefined)
  expect(proxy.stalls).toBeGreaterThan(0)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('no progress for 5 s')
  expect(readdirSync(folder)).toEqual([])
})

it.each(['backup', 'restore'])(
  'ends a %s when the database answers nothing at all',
  async (verb) => {
    const file = join(temporaryFolder(), 'one.backup')
    expect((await run(['backup', '--out', file], patient)).code).toBe(0)
    proxy.stallAt('')
    const refused = await run(
      verb === 'backup' ? ['backup'] : ['restore', file, '--force'],
      throughProxy(),
    )
    proxy.stallAt(undefined)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/did not answer|does not answer|no progress/)
  },
)

it('is refused while another backup of the database runs', async () => {
  const { stdout } = await run(['db', 'url'], { DATA_DIR: made.dataDir })
  const sql = postgres(stdout.trim(), { max: 1 })
  // The lock of a running backup.
  await sql`select pg_advisory_lock(5377023)`
  const refused = await run(['backup', '--out', join(folder, 'second.backup')], patient)
  await sql.end()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('another backup of this database is running')
})

it('leaves nothing visible when it is killed, and can be repeated', async () => {
  proxy.stallAt('Acme')
  const before = proxy.stalls
  const child = spawn(process.execPath, [MAIN, 'backup'], {
    env: { PATH: process.env.PATH, ...patient, DATABASE_URL: proxy.url, BACKUP_DIR: folder },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await waitFor(() => proxy.stalls > before)
  await waitFor(() => readdirSync(folder).length > 0)
  child.kill('SIGKILL')
  await ended
  proxy.stallAt(undefined)
  const [left = ''] = readdirSync(folder)
  expect(left).toMatch(/\.unfinished$/)
  const killed = await runs('running')
  expect(killed).toHaveLength(1)

  // Its file counts as left behind after twice the time-out.
  const longAgo = new Date(Date.now() - 3_600_000)
  utimesSync(join(folder, left), longAgo, longAgo)
  // A run is named after its second.
  await waitFor(() => stampOf(new Date()) !== killed[0]?.backup_id)
  const again = await waitFor(async () => {
    const result = await run(['backup', '--json'], { ...patient, BACKUP_DIR: folder })
    // PostgreSQL may need a moment to notice that the killed process is gone.
    return result.code === 0 ? result : undefined
  })
  const { path } = JSON.parse(again.stdout)
  expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([path])
  expect(await runs('running')).toEqual([])
  const [failed] = (await runs('failed')).filter((one) => one.backup_id === killed[0]?.backup_id)
  expect(failed?.error).toContain('ended without a word')
})

it('restores into an own PostgreSQL with a data folder that is not there yet', async () => {
  const file = join(temporaryFolder(), 'one.backup')
  expect((await run(['backup', '--out', file], patient)).code).toBe(0)
  const other = join(temporaryFolder(), 'another', 'data')
  const { stdout } = await run(['db', 'url'], { DATA_DIR: made.dataDir })
  const sql = postgres(stdout.trim(), { max: 1 })
  await sql`create database elsewhere`
  await sql.end()
  const url = new URL(stdout.trim())
  url.pathname = '/elsewhere'
  const restored = await run(['restore', file], {
    ...patient,
    DATA_DIR: other,
    DATABASE_URL: url.href,
  })
  expect(restored).toMatchObject({ code: 0 })
  expect(existsSync(join(other, 'secret-key'))).toBe(true)
})
