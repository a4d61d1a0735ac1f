import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../config/index.ts'
import { vault } from '../lib/vault.ts'
import { renderForHosts } from './render.ts'

test('edge render uses EDGE_DKIM_DIR or its default, not the DKIM folder of a private edge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-render-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const privateDkim = join(folder, 'edge', 'dkim')
  mkdirSync(join(folder, 'edge'))
  writeFileSync(join(folder, 'edge', 'edge.env'), `EDGE_DKIM_DIR=${privateDkim}\n`)

  const render = (env: Record<string, string>) => {
    const out = join(folder, 'out')
    const database = { host: '127.0.0.1', port: 5432, name: 'm', user: 'u', password: 'p' }
    const config = readConfig({ DATA_DIR: folder, ...env })
    renderForHosts({ config, vault: vault('root key of this test'), database }, out)
    return ['README.md', 'rspamd/local.d/dkim_signing.conf']
      .map((name) => readFileSync(join(out, name), 'utf8'))
      .join('\n')
  }

  const standard = render({})
  expect(standard).not.toContain(privateDkim)
  expect(standard).toContain('path = "/var/lib/mailplane/dkim/keys/$domain/$selector.key";')
  expect(render({ EDGE_DKIM_DIR: '/srv/dkim' })).toContain('path = "/srv/dkim/keys/')
})
