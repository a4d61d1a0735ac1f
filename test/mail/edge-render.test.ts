import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { edgeMissing, skipped } from '../support/edge.ts'
import { run } from '../support/process.ts'

const CERT = new URL('../support/tls-cert.pem', import.meta.url).pathname
const KEY = new URL('../support/tls-key.pem', import.meta.url).pathname

describe.skipIf(edgeMissing)(`mailplane edge render${skipped}`, () => {
  let out: string
  let files: string[]
  let dataDir: string
  beforeAll(async () => {
    dataDir = join(mkdtempSync(join(tmpdir(), 'mailplane-render-')), 'data')
    out = join(dataDir, '..', 'out')
    const made = await run(['edge', 'render', '--out', out, '--json'], {
      DATA_DIR: dataDir,
      SVC_MAIL_HOSTNAME: 'mx.example.com',
      EDGE_TLS_CERT: CERT,
      EDGE_TLS_KEY: KEY,
      EDGE_RATE_POLICY_PORT: '10031',
      EDGE_ACCESS_POLICY_PORT: '10032',
      EDGE_AUTH_POLICY_PORT: '8090',
      EDGE_TRUSTED_NETWORKS: '10.9.0.0/16, fd00::/8',
    })
    expect(made.stderr).toBe('')
    files = JSON.parse(made.stdout).files
  })
  afterAll(() => rmSync(join(dataDir, '..'), { recursive: true, force: true }))

  const setting = (name: string) =>
    spawnSync('postconf', ['-c', join(out, 'postfix'), '-h', name], { encoding: 'utf8' })

  it('writes a configuration that Postfix accepts without warnings', () => {
    const { status, stderr } = spawnSync('postconf', ['-c', join(out, 'postfix'), '-n'], {
      encoding: 'utf8',
    })
    // The maps are named by their final path.
    const complaints = stderr.split('\n').filter((line) => !/pgsql-\w+\.cf": No such/.test(line))
    expect({ status, complaints }).toEqual({ status: 0, complaints: [''] })
    expect(setting('submission_end_of_data_restrictions').stdout).toContain(':10031')
    expect(setting('submission_recipient_restrictions').stdout).toContain(':10032')
    expect(setting('mx_recipient_restrictions').stdout).toContain(':10032, policy_context=mx')
    expect(setting('mx_recipient_restrictions').stdout).not.toContain(':10031')
    expect(setting('internal_recipient_restrictions').stdout).toContain('policy_context=internal')
    expect(setting('private_networks').stdout).toBe(
      '127.0.0.0/8 10.9.0.0/16 [fd00::]/8 [::1]/128\n',
    )
    const services = spawnSync('postconf', ['-c', join(out, 'postfix'), '-M'], {
      encoding: 'utf8',
    }).stdout
    const privately = ['10587', '10588', '10026', '10027'].map((port) => `127.0.0.1:${port}`)
    for (const port of ['25', '587', '465', ...privately]) {
      expect(services).toMatch(new RegExp(`^${port.replaceAll('.', '\\.')} +inet`, 'm'))
    }
  })

  it('puts the content filter before the queue on every submission service and nowhere after it', () => {
    const overrides = spawnSync('postconf', ['-c', join(out, 'postfix'), '-P'], {
      encoding: 'utf8',
    })
    expect(overrides.status).toBe(0)
    const filtered = overrides.stdout
      .split('\n')
      .filter((line) => line.includes('smtpd_proxy_filter = 127.0.0.1:10025'))
      .map((line) => line.slice(0, line.indexOf('/inet')))
    expect(filtered.sort()).toEqual(['127.0.0.1:10587', '127.0.0.1:10588', '25', '465', '587'])
    const login = (name: string) =>
      spawnSync('postmap', ['-q', name, `regexp:${join(out, 'postfix', 'origin.regexp')}`], {
        encoding: 'utf8',
      }).stdout
    expect(login('acme-app')).toMatch(/^PREPEND X-Mailplane-Origin: [0-9a-f]{64} acme-app\n$/)
    expect(statSync(join(out, 'postfix', 'origin.regexp')).mode & 0o077).toBe(0)
  })

  it('writes a configuration that Rspamd accepts without warnings', () => {
    const { status, stdout } = spawnSync('rspamadm', ['configtest', '-c', rspamdConfig()], {
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('syntax OK') })
  })

  /** The configuration of the Debian package with our changes, as on a host. */
  function rspamdConfig(): string {
    const folder = join(dataDir, '..', 'rspamd')
    cpSync('/etc/rspamd', folder, { recursive: true })
    cpSync(join(out, 'rspamd'), folder, { recursive: true })
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name)
      if (!statSync(path).isFile()) continue
      const text = readFileSync(path, 'utf8')
      writeFileSync(
        path,
        text.replace(/\$\{?(LOCAL_)?CONFDIR\}?/g, folder).replaceAll('/etc/rspamd', folder),
      )
    }
    return join(folder, 'rspamd.conf')
  }

  it('writes the virus scanner into the configuration of Rspamd and of clamd', () => {
    const rules = readFileSync(join(out, 'rspamd', 'local.d', 'antivirus.conf'), 'utf8')
    expect(rules).toContain('servers = "/run/clamav/clamd.ctl";')
    const parsed = spawnSync('rspamadm', ['configdump', '-c', rspamdConfig(), 'antivirus'], {
      encoding: 'utf8',
    })
    expect(parsed.stdout).toContain('CLAM_VIRUS')
    const { stdout } = spawnSync('clamconf', ['-c', join(out, 'clamav')], { encoding: 'utf8' })
    expect(stdout).toContain('LocalSocket = "/run/clamav/clamd.ctl"')
    expect(stdout).not.toMatch(/ERROR/)
    expect(readFileSync(join(out, 'clamav', 'clamd.conf'), 'utf8')).toContain(
      'DatabaseDirectory /var/lib/clamav\n',
    )
    expect(readFileSync(join(out, 'README.md'), 'utf8')).toContain(
      'MONITOR_CLAMD=/run/clamav/clamd.ctl',
    )
  })

  it('writes a configuration that Dovecot accepts without warnings', () => {
    const { status, stdout, stderr } = spawnSync(
      'doveconf',
      ['-n', '-c', join(out, 'dovecot', 'dovecot.conf')],
      { encoding: 'utf8' },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('auth_policy_server_url = http://127.0.0.1:8090/auth-policy')
    expect(stdout).toContain('sieve_max_redirects = 32')
  })

  it('writes the parts of several hosts, which Dovecot and Postfix accept', async () => {
    const render = async (name: string, role: string, env: Record<string, string> = {}) => {
      const folder = join(dataDir, '..', name)
      const made = await run(
        ['edge', 'render', '--host', name, '--role', role, '--out', folder, '--json'],
        { DATA_DIR: dataDir, EDGE_TLS_CERT: CERT, EDGE_TLS_KEY: KEY, ...env },
      )
      return { ...made, folder }
    }
    const complaintsOf = (folder: string) => {
      const file = join(folder, 'dovecot', 'dovecot.conf')
      return spawnSync('doveconf', ['-n', '-c', file], { encoding: 'utf8' }).stderr
    }
    const front = await render('front', 'proxy,mx,submission,outbound')
    expect([front.code, complaintsOf(front.folder)]).toEqual([0, ''])
    const transport = spawnSync(
      'postconf',
      ['-c', join(front.folder, 'postfix'), '-h', 'transport_maps'],
      { encoding: 'utf8' },
    )
    expect(transport.stdout).toContain('pgsql-transport.cf')
    const backend = await render('one', 'backend', { EDGE_AUTOMATIC_HOST: '10.9.0.1:10588' })
    expect([backend.code, complaintsOf(backend.folder)]).toEqual([0, ''])
    expect(readdirSync(backend.folder).sort()).toEqual(['README.md', 'dovecot'])
    expect(readFileSync(join(backend.folder, 'README.md'), 'utf8')).toContain('"roles":["backend"]')
    const submission = await render('submission', 'submission')
    expect([submission.code, complaintsOf(submission.folder)]).toEqual([0, ''])
    const outbound = await render('outbound', 'outbound')
    expect(readdirSync(outbound.folder).sort()).toContain('postfix')
    expect(readdirSync(outbound.folder)).not.toContain('dovecot')

    expect((await render('one', 'backend')).stderr).toContain('set EDGE_AUTOMATIC_HOST')
    expect((await render('one', 'backend,mx')).stderr).toContain('a backend has no other role')
    expect((await render('one', 'everything')).stderr).toContain('everything is not a role')
    expect((await render('No Name', 'mx')).stderr).toContain('is not a name of a mail host')
  })

  it('prints the destination of each file and protects files with secrets', () => {
    const readme = readFileSync(join(out, 'README.md'), 'utf8')
    for (const name of files.filter((one) => one !== 'README.md')) {
      expect(readme).toContain(`| ${name} | /etc/${name} |`)
    }
    for (const name of files) {
      const text = readFileSync(join(out, name), 'utf8')
      if (!/password|api_key/i.test(text)) continue
      expect(statSync(join(out, name)).mode & 0o077, name).toBe(0)
    }
  })
})
