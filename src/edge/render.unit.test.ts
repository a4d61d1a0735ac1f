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

test('edge render writes every host of the database, of which only the primary is used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-render-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const render = (url: string, file: string) => {
    const database = databaseAddress('postgres://other/m', url, 'p')
    const config = readConfig({ DATA_DIR: folder })
    renderForHosts({ config, vault: vault('root key of this test'), database }, folder)
    return readFileSync(join(folder, file), 'utf8')
  }
  const list = 'postgres://db1:5432,db2,[2001:db8::3]/mail'
  const options = 'target_session_attrs=read-write&connect_timeout=3'
  const [one, two, three] = ['db1', 'db2', '[2001:db8::3]'].map(
    (host) => `postgresql://mailplane_edge:p@${host}:5432/mail?${options}`,
  )
  expect(render(list, 'postfix/pgsql-domains.cf')).toContain(`hosts = ${one} ${two} ${three}\n`)
  expect(render(list, 'dovecot/sql-mailbox.conf.ext')).toContain(
    'connect = host=db1,db2,2001:db8::3 host=db2,2001:db8::3,db1 host=2001:db8::3,db1,db2 maxconns=1 port=5432 target_session_attrs=read-write dbname=mail ',
  )
  expect(render('postgres://db1:1,db2:2/mail', 'dovecot/sql-mailbox.conf.ext')).toContain(
    'connect = host=db1,db2 host=db1,db2 host=db1,db2 maxconns=1 port=1,2 target_session_attrs=read-write dbname=mail ',
  )
  expect(render('postgres://db1/mail', 'postfix/pgsql-domains.cf')).toContain('hosts = db1:5432\n')
})
