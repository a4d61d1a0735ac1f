import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWithBackups } from '../support/backup-place.ts'
import { type Installation, ownerOf } from '../support/installation.ts'
import { cleanUp, MAIN, run, type Server, temporaryFolder } from '../support/process.ts'
import { startS3 } from '../support/s3.ts'
import { waitFor } from '../support/wait.ts'

let made: Installation
let server: Server
let s3: Awaited<ReturnType<typeof startS3>>
let folder: string
let env: Record<string, string>
const mailplane = (args: string[], more: Record<string, string> = {}) =>
  run(args, { ...env, ...more })
const stored = async () => {
  const { stdout } = await mailplane(['backup', 'list', '--json'])
  const all = JSON.parse(stdout) as { backup_id: string; place: string; location: string }[]
  return all.filter(({ place }) => place === 's3').map(({ location }) => location)
}
const failures = async () => {
  const list = await ownerOf(server, made).get('/api/v1/platform/backups?status=failed')
  return list.body.data.items as { storage_path: string; error: string }[]
}

beforeAll(async () => {
  s3 = await startS3()
  ;({ made, server, env } = await startWithBackups(s3))
  folder = env.BACKUP_DIR as string
})
afterAll(async () => {
  await server.stop()
  await s3.stop()
  await cleanUp()
})

it('needs the keys of the bucket', async () => {
  const refused = await mailplane(['backup'], { BACKUP_S3_SECRET_KEY: '' })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('BACKUP_S3_BUCKET')
})

it('goes to S3 in parts, is read back, and is restored straight from there', async () => {
  const { code, stdout, stderr } = await mailplane(['backup', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const backup = JSON.parse(stdout)
  expect(backup.location).toMatch(/^s3:\/\/archive\/backups\/mailplane-\w+\.backup$/)
  expect(await stored()).toEqual([backup.location])
  const [object] = s3.objects().values()
  expect(object?.length).toBe(backup.size_bytes)
  expect(object?.includes('acme.test')).toBe(false)

  const elsewhere = join(temporaryFolder(), 'data')
  const place = { DATA_DIR: elsewhere, BACKUP_DIR: join(elsewhere, 'none') }
  const restored = await mailplane(['restore', 'latest', '--json'], place)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(restored.stdout)).toMatchObject({
    backup_id: backup.backup_id,
    rows: backup.rows,
  })
})

it('refuses an object that was changed, and a wrong passphrase', async () => {
  const [location = ''] = await stored()
  const wrong = await mailplane(['backup', 'verify', location], {
    BACKUP_PASSPHRASE: 'not the passphrase at all',
  })
  expect(wrong).toMatchObject({ code: 1 })
  expect(wrong.stderr).toContain('passphrase is wrong')

  const flip = (bytes: Buffer) => {
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    return bytes
  }
  s3.damage('mailplane-', flip)
  const refused = await mailplane(['restore', location, '--force'])
  s3.damage('mailplane-', flip)
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toContain('damaged')
  expect(await mailplane(['backup', 'verify', location])).toMatchObject({ code: 0 })
})

it('keeps the file and is recorded as failed when S3 is away; the file is uploaded later', async () => {
  const before = await stored()
  const files = new Set(readdirSync(folder))
  await s3.away()
  const refused = await mailplane(['backup'])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/the backup is in \S+, but not in the bucket: .*does not answer/)
  expect((await failures())[0]?.error).toContain('but not in the bucket')
  await s3.back()

  const [kept = ''] = readdirSync(folder).filter((name) => !files.has(name))
  const uploaded = await mailplane(['backup', 'upload', join(folder, kept), '--json'])
  expect(uploaded).toMatchObject({ code: 0 })
  expect(await stored()).toEqual([JSON.parse(uploaded.stdout).location, ...before])
})

it('ends when S3 takes the request and stays silent', async () => {
  await s3.silence()
  const refused = await mailplane(['backup'], { BACKUP_TIMEOUT_SECONDS: '5' })
  await s3.back()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/not in the bucket: .*no answer within 5000 ms/)
})

it('shows nothing in S3 when it is killed in the middle of an upload, and can be repeated', async () => {
  const before = await stored()
  const requests = await s3.silence()
  const child = spawn(process.execPath, [MAIN, 'backup'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await waitFor(() => requests() > 0)
  child.kill('SIGKILL')
  await ended
  await s3.back()
  expect(await stored()).toEqual(before)

  const again = await waitFor(async () => {
    const result = await mailplane(['backup', '--json'])
    // PostgreSQL may need a moment to notice that the killed process is gone.
    return result.code === 0 ? result : undefined
  })
  expect(await stored()).toEqual([JSON.parse(again.stdout).location, ...before])
  expect((await failures())[0]?.error).toContain('ended without a word')
})

it('removes the objects that no rule keeps, and never the newest', async () => {
  const before = await stored()
  expect(before.length).toBeGreaterThan(2)
  const done = await mailplane(['backup', '--json'], { BACKUP_KEEP_DAILY: '1' })
  expect(done.code).toBe(0)
  expect(await stored()).toEqual([JSON.parse(done.stdout).location])
  expect(readdirSync(folder)).toHaveLength(1)
})
