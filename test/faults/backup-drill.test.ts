import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installation, ownerOf } from '../support/installation.ts'
import { cleanUp, run, type Server, startServer, temporaryFolder } from '../support/process.ts'

let made: Awaited<ReturnType<typeof installation>>
let server: Server
let sql: Sql
let folder: string
let env: Record<string, string>
const mailplane = (args: string[], more = {}) => run(args, { ...env, ...more })
const status = async () =>
  (await ownerOf(server, made).get('/api/v1/platform/backups/status')).body.data

beforeAll(async () => {
  made = await installation()
  server = await startServer(made)
  folder = temporaryFolder()
  env = {
    DATA_DIR: made.dataDir,
    BACKUP_DIR: folder,
    BACKUP_PASSPHRASE: 'a passphrase to remember',
  }
  const { stdout } = await run(['db', 'url'], { DATA_DIR: made.dataDir })
  sql = postgres(stdout.trim(), { max: 1 })
})
afterAll(async () => {
  await sql.end()
  await server.stop()
  await cleanUp()
})

it('says that there is no backup to drill', async () => {
  const refused = await mailplane(['backup', 'drill'])
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toContain('there is no backup')
})

it('restores the newest backup beside a running server, and records that it passed', async () => {
  const backup = JSON.parse((await mailplane(['backup', '--json'])).stdout)
  const drilled = await mailplane(['backup', 'drill', '--json'])
  expect(drilled).toMatchObject({ code: 0, stderr: '' })
  const report = JSON.parse(drilled.stdout)
  expect(report).toMatchObject({
    backup_id: backup.backup_id,
    passed: true,
    rows: backup.rows,
    applied: [],
  })
  expect(report.steps.map(({ name }: { name: string }) => name)).toEqual([
    'read the file',
    'restore',
    'count rows',
    'check foreign keys',
    'open secrets',
  ])
  for (const step of report.steps) expect(step).toMatchObject({ problems: [] })
  for (const step of report.steps) expect(step.checked).toBeGreaterThan(0)
  expect(JSON.parse(readFileSync(report.report, 'utf8'))).toMatchObject({ passed: true })
  expect(existsSync(join(made.dataDir, 'restore-scratch'))).toBe(false)
  expect(await status()).toMatchObject({
    last_drill: { backup_id: backup.backup_id, passed: true, problems: [] },
  })
})

it('finds a reference that leads nowhere and a secret that does not open', async () => {
  const passedAt = (await status()).last_drill.last_passed_at
  const [domain] = await sql`select id from domains limit 1`
  // As a damaged disk or a restore by hand might leave it; the server itself never writes this.
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`update domains set organization_id = 'nowhere' where id = ${domain?.id}`
    await tx`update totp_enrollments set secret = '\\x0100'`
  })
  await mailplane(['backup', '--json'])
  const drilled = await mailplane(['backup', 'drill', '--json'])
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`update domains set organization_id = ${made.organizationId} where id = ${domain?.id}`
  })
  expect(drilled.code).toBe(1)
  expect(drilled.stderr).toMatch(/domains: 1 rows violate .*totp_enrollments: a secret cannot/)
  const state = await status()
  expect(state.last_drill).toMatchObject({ passed: false, last_passed_at: passedAt })
  expect(state.notes.join(' ')).toContain('The last restore drill found')
})

it('fails for a file that differs from the record of its run, and for a wrong passphrase', async () => {
  const first = JSON.parse((await mailplane(['backup', '--json'])).stdout)
  await sql`update backup_runs set checksum = 'other' where backup_id = ${first.backup_id}`
  const differs = await mailplane(['backup', 'drill', '--json'])
  expect(differs.code).toBe(1)
  expect(differs.stderr).toContain('the record of the run has other')

  const wrong = await mailplane(['backup', 'drill'], { BACKUP_PASSPHRASE: 'another passphrase' })
  expect(wrong.code).toBe(1)
  expect(wrong.stderr).toContain('passphrase is wrong')

  const damaged = join(folder, 'damaged.backup')
  copyFileSync(first.path, damaged)
  const bytes = readFileSync(damaged)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  writeFileSync(damaged, bytes)
  const refused = await mailplane(['backup', 'drill', damaged])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('damaged')
})
