import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installation, ownerOf } from '../support/installation.ts'
import { cleanUp, run, startServer, temporaryFolder } from '../support/process.ts'

const PASSPHRASE = { BACKUP_PASSPHRASE: 'a passphrase to remember' }
afterAll(cleanUp)

describe('a backup', () => {
  let made: Awaited<ReturnType<typeof installation>>
  let folder: string
  let file: string
  const mailplane = (args: string[], env: Record<string, string> = {}) =>
    run(args, { DATA_DIR: made.dataDir, ...PASSPHRASE, ...env })

  beforeAll(async () => {
    made = await installation()
    folder = temporaryFolder()
    file = join(folder, 'one.backup')
  })

  it('is refused without a passphrase of sufficient length', async () => {
    for (const BACKUP_PASSPHRASE of ['', 'short']) {
      const refused = await mailplane(['backup', '--out', file], { BACKUP_PASSPHRASE })
      expect(refused.code).toBe(1)
      expect(refused.stderr).toContain('set BACKUP_PASSPHRASE to 12 characters or more')
    }
    expect(existsSync(file)).toBe(false)
  })

  it('can be created beside a running server, is recorded there and can be verified', async () => {
    const server = await startServer(made)
    try {
      const { code, stdout, stderr } = await mailplane(['backup', '--out', file, '--json'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const backup = JSON.parse(stdout)
      expect(backup).toMatchObject({ path: file, verified: true })
      expect(backup.rows).toBeGreaterThan(5)
      const owner = ownerOf(server, made)
      const list = await owner.get('/api/v1/platform/backups')
      expect(list.body.data.items).toMatchObject([
        {
          backup_id: backup.backup_id,
          status: 'completed',
          target: 'database',
          encrypted: true,
          checksum: backup.checksum,
          size_bytes: backup.size_bytes,
          storage_path: file,
        },
      ])
      expect((await owner.get('/api/v1/platform/backups/status')).body.data.hosts).toMatchObject([
        { stale: false, unencrypted_runs: 0 },
      ])
    } finally {
      await server.stop()
    }
    const verified = await mailplane(['backup', 'verify', file, '--json'])
    expect(JSON.parse(verified.stdout)).toMatchObject({ verified: true })
    expect(readdirSync(folder)).toEqual(['one.backup'])
  })

  it('contains no readable data without the passphrase', async () => {
    const bytes = readFileSync(file)
    const rootKey = readFileSync(join(made.dataDir, 'secret-key'), 'utf8').trim()
    for (const secret of [rootKey, 'acme.test', 'organizations']) {
      expect(bytes.includes(secret)).toBe(false)
    }
    const refused = await mailplane(['backup', 'verify', file], {
      BACKUP_PASSPHRASE: 'another passphrase',
    })
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain('passphrase is wrong')
  })

  it('does not overwrite an existing file and reports the failure', async () => {
    const refused = await mailplane(['backup', '--out', file])
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain('is there already')
    const server = await startServer(made)
    const list = await ownerOf(server, made).get('/api/v1/platform/backups?status=failed')
    await server.stop()
    expect(list.body.data.items).toMatchObject([{ error: expect.stringContaining('already') }])
  })

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ['cut off at a chunk', (bytes: Buffer) => bytes.subarray(0, 35)],
    ['changed in one bit', (bytes: Buffer) => flip(bytes, bytes.length >> 1)],
    ['changed at the end', (bytes: Buffer) => flip(bytes, bytes.length - 1)],
    ['longer', (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)])],
    ['empty', () => Buffer.alloc(0)],
    ['something else', () => Buffer.from('PK\x03\x04 no backup at all, but long enough')],
  ])('that is %s is not restored, and the installation stays unchanged', async (name, damage) => {
    const damaged = join(folder, `${name}.damaged`)
    writeFileSync(damaged, damage(readFileSync(file)))
    const refused = await mailplane(['restore', damaged, '--force'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/damaged|cut off|no backup|behind the end/)
    const keys = await mailplane(['keys', 'list', '--json'])
    expect(JSON.parse(keys.stdout).length).toBeGreaterThan(0)
  })

  it('is not restored over a database in use without --force, nor under a running server', async () => {
    const refused = await mailplane(['restore', file])
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain('--force replaces everything')
    const server = await startServer(made)
    const running = await mailplane(['restore', file, '--force'])
    await server.stop()
    expect(running).toMatchObject({ code: 1 })
    expect(running.stderr).toContain('stop it first')
  })

  it('restores keys, sessions and secrets on another machine', async () => {
    const elsewhere = join(temporaryFolder(), 'data')
    const restored = await mailplane(['restore', file, '--json'], { DATA_DIR: elsewhere })
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(restored.stdout)).toMatchObject({ restored: true })
    const server = await startServer({ dataDir: elsewhere })
    try {
      const headers = { 'x-api-key': made.apiKey }
      const domains = await server.send('GET', '/api/v1/domains/', { headers })
      expect(domains.body.data.items.length).toBeGreaterThan(0)
      const owner = ownerOf(server, made)
      expect((await owner.get('/api/v1/platform/audit')).status).toBe(200)
      // Sequences continue: a new row does not collide with an old one.
      const body = { organization_id: 'after', organization_name: 'After' }
      const report = { backup_id: 'after', hostname: 'mail1', status: 'completed', ...body }
      expect((await owner.post('/api/v1/platform/backups/report', report)).status).toBe(200)
    } finally {
      await server.stop()
    }
  })

  it('replaces an installation with --force and sets the other root key aside', async () => {
    const other = await installation()
    const mark = ['keys', 'create', '--organization', other.organizationId, '--name', 'Gone']
    await run([...mark, '--json'], { DATA_DIR: other.dataDir })
    writeFileSync(join(other.dataDir, 'secret-key'), 'x'.repeat(43), { mode: 0o600 })
    const refused = await mailplane(['restore', file], { DATA_DIR: other.dataDir })
    expect(refused.code).toBe(1)
    const restored = await mailplane(['restore', file, '--force'], { DATA_DIR: other.dataDir })
    expect(restored.code).toBe(0)
    const key = (name: string) => readFileSync(join(other.dataDir, name), 'utf8')
    expect(key('secret-key').trim()).toBe(
      readFileSync(join(made.dataDir, 'secret-key'), 'utf8').trim(),
    )
    expect(key('secret-key.before-restore')).toBe('x'.repeat(43))
    const keys = await run(['keys', 'list', '--json'], { DATA_DIR: other.dataDir })
    expect(keys.stdout).not.toContain('Gone')
  })

  it('is removed after its retention period, except for the newest', async () => {
    const backups = join(made.dataDir, 'backups')
    mkdirSync(backups)
    const old = 'mailplane-20200101T000000Z.backup'
    copyFileSync(file, join(backups, old))
    writeFileSync(join(backups, 'notes.txt'), 'not ours')
    const done = await mailplane(['backup', '--json'], { BACKUP_RETENTION_DAYS: '30' })
    expect(JSON.parse(done.stdout)).toMatchObject({ removed: 1 })
    expect(readdirSync(backups).sort()).toEqual([
      expect.stringMatching(/^mailplane-20\d{6}T\d{6}Z\.backup$/),
      'notes.txt',
    ])
    expect(readdirSync(backups)).not.toContain(old)
  })
})

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
