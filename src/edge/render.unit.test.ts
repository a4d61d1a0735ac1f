import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../config/index.ts'
import { vault } from '../lib/vault.ts'
import { databaseAddress } from './database-role.ts'
import { renderForHosts } from './render.ts'

test('edge render uses EDGE_DKIM_DIR or its default, not the DKIM folder of a private edge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-render-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const privateDkim = join(folder, 'edge', 'dkim')
  mkdirSync(join(folder, 'edge'))
  writeFileSync(join(folder, 'edge', 'edge.env'), `EDGE_DKIM_DIR=${privateDkim}\n`)

  const render = (env: Record<string, string>) => {
    const out = join(folder, 'out')
    const database = databaseAddress('postgres://127.0.0.1/m', undefined, 'p')
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

test('edge render writes the one host of the database, with brackets where an IPv6 address needs them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-render-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const render = (url: string, file: string) => {
    const database = databaseAddress('postgres://other/m', url, 'p')
    const config = readConfig({ DATA_DIR: folder })
    renderForHosts({ config, vault: vault('root key of this test'), database }, folder)
    return readFileSync(join(folder, file), 'utf8')
  }
  expect(render('postgres://db1/mail', 'postfix/pgsql-domains.cf')).toContain('hosts = db1:5432\n')
  expect(render('postgres://[2001:db8::3]:1/mail', 'postfix/pgsql-domains.cf')).toContain(
    'hosts = [2001:db8::3]:1\n',
  )
  expect(render('postgres://[2001:db8::3]:1/mail', 'dovecot/sql-mailbox.conf.ext')).toContain(
    'connect = host=2001:db8::3 host=2001:db8::3 host=2001:db8::3 maxconns=1 port=1 dbname=mail ',
  )
})

test('the mail servers refuse a list of hosts, also of DATABASE_URL, in a line that names the way out', () => {
  const list = 'postgres://db1:5432,db2:5432/mail'
  const refused = 'set EDGE_DATABASE_URL to a proxy on the mail host that leads to the primary'
  expect(() => databaseAddress(list, undefined, 'p')).toThrow(refused)
  expect(() => databaseAddress('postgres://db1/mail', list, 'p')).toThrow(refused)
  expect(databaseAddress(list, 'postgres://127.0.0.1/mail', 'p')).toMatchObject({
    host: '127.0.0.1',
    port: 5432,
  })
})
