import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ROOT } from '../support/documentation.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'

afterEach(cleanUp)

const tags = spawnSync('git', ['tag', '--list', 'v*'], { cwd: ROOT, encoding: 'utf8' }).stdout ?? ''
const releases = tags.split('\n').filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag))
const ADMIN = { admin_email: 'admin@acme.example', admin_password: 'a-long-passphrase-1' }

/** Builds the program of a release with the packages of this checkout. */
function built(release: string): string {
  const folder = join(temporaryFolder(), 'release')
  mkdirSync(folder)
  const archive = execFileSync('git', ['archive', release], { cwd: ROOT, maxBuffer: 500_000_000 })
  execFileSync('tar', ['--extract', `--directory=${folder}`], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder })
  return join(folder, 'dist', 'main.js')
}

describe.skipIf(releases.length === 0)(
  `an upgrade${releases.length === 0 ? ' (skipped: this checkout has no tag of a release)' : ''}`,
  () => {
    it.each(releases)('from %s keeps organizations, keys and mailboxes', async (release) => {
      const dataDir = join(temporaryFolder(), 'data')
      const before = await startServer({ dataDir, main: built(release) })
      await until(async () => (await before.health()).status === 200)
      const token = execFileSync('cat', [join(dataDir, 'bootstrap-token')], { encoding: 'utf8' })
      const made = await before.send('POST', '/api/v1/bootstrap/', {
        headers: { 'x-bootstrap-token': token.trim() },
        body: { organization_name: 'Acme', ...ADMIN },
      })
      expect(made.status).toBe(200)
      const headers = { 'x-api-key': made.body.data.api_key }
      const domains = await before.send('GET', '/api/v1/domains/', { headers })
      expect((await before.stop()).code).toBe(0)

      const after = await startServer({ dataDir })
      await until(async () => (await after.health()).status === 200)
      const kept = await after.send('GET', '/api/v1/domains/', { headers })
      expect(kept.status).toBe(200)
      // A later version may add fields.
      expect(kept.body.data).toMatchObject(domains.body.data)
      const alias = { source: 'info@acme.example', destination: ADMIN.admin_email }
      const added = await after.send('POST', '/api/v1/aliases/add', { headers, body: alias })
      expect(added.body.type).toBe('success')
      expect((await after.stop()).code).toBe(0)
    })
  },
)
