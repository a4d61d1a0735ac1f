import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  containerEngine,
  containersMissing,
  ENGINE_TIMEOUT_MS,
  type Engine,
  productImages,
} from '../support/containers.ts'
import { makePackage } from '../support/debian-package.ts'
import { cleanUp, temporaryFolder, until } from '../support/process.ts'
import { missingProgram, skipped } from '../support/programs.ts'

const missing = missingProgram('dpkg-deb') ?? containersMissing

const USER = 'admin@acme.example'
const PASSWORD = 'a-long-passphrase-1'
const SETTINGS = [
  'SVC_MAIL_HOSTNAME=mail.acme.example',
  'SVC_DOMAIN_OWNERSHIP=off',
  'BACKUP_PASSPHRASE=a-long-passphrase-2',
]
// The private edge runs these programs itself.
const UNITS_OF_DEBIAN = ['postfix', 'dovecot', 'rspamd', 'clamav-daemon', 'clamav-freshclam']

describe.skipIf(missing)(`the units under systemd${skipped(missing)}`, () => {
  let engine: Engine
  let machine: string
  beforeAll(async () => {
    engine = await containerEngine()
    productImages(engine)
    const folder = temporaryFolder()
    makePackage(join(folder, 'mailplane.deb'))
    machine = engine.start('mailplane-test-systemd', [
      ...['--systemd=always', '--network=none', `--volume=${folder}:/packages:ro`],
      // Root of a machine has them: for the sandboxes of systemd, and for `edge up`.
      '--cap-add=SYS_ADMIN,SYS_PTRACE,DAC_READ_SEARCH',
      ...['test-edge', '/sbin/init'],
    ])
    await until(() => succeeds('systemctl', 'is-system-running', '--wait'))
    run('systemctl', 'disable', '--now', ...UNITS_OF_DEBIAN)
    run('dpkg', '--install', '/packages/mailplane.deb')
    shell(`printf '%s\\n' '${SETTINGS.join("' '")}' >>/etc/mailplane/mailplane.env`)
  }, ENGINE_TIMEOUT_MS)
  afterAll(async () => {
    await engine?.close()
    await cleanUp()
  })

  const run = (...command: string[]) => engine.podman(['exec', machine, ...command])
  const shell = (command: string) => run('sh', '-c', command)
  const succeeds = (...command: string[]): boolean => {
    try {
      run(...command)
      return true
    } catch {
      return false
    }
  }
  const property = (unit: string, name: string) =>
    run('systemctl', 'show', `--property=${name}`, '--value', unit).trim()
  const isServing = () =>
    succeeds('curl', '--silent', '--fail', '--output', '/dev/null', 'http://127.0.0.1:5000/health')
  const DATA = '/var/lib/mailplane/data'

  it('the server starts with its embedded PostgreSQL, in its sandbox', async () => {
    run('systemctl', 'enable', '--now', 'mailplane-helper', 'mailplane')
    await until(isServing)
    const pid = property('mailplane', 'MainPID')
    expect(run('ps', '--no-headers', '-o', 'user:20', '-p', pid).trim()).toBe('mailplane')
    const status = run('cat', `/proc/${pid}/status`)
    expect(status).toMatch(/^CapBnd:\s0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\s1$/m)
    expect(() => run('nsenter', `--target=${pid}`, '--mount', 'touch', '/usr/x')).toThrow(
      'Read-only file system',
    )
    expect(property('mailplane-helper', 'ActiveState')).toBe('active')
  })

  it('the server comes back by itself after kill -9, and its database with it', async () => {
    const before = property('mailplane', 'MainPID')
    run('systemctl', 'kill', '--signal=KILL', '--kill-whom=main', 'mailplane')
    await until(() => !['0', before].includes(property('mailplane', 'MainPID')) && isServing())
    expect(property('mailplane', 'NRestarts')).toBe('1')
  })

  it('the mail servers come up, take a message and show it', async () => {
    const token = run('cat', `${DATA}/bootstrap-token`).trim()
    const first = { organization_name: 'Acme', admin_email: USER, admin_password: PASSWORD }
    run(
      ...['curl', '--silent', '--show-error', '--fail', 'http://127.0.0.1:5000/api/v1/bootstrap/'],
      ...['--header', `X-Bootstrap-Token: ${token}`, '--json', JSON.stringify(first)],
    )
    run('systemctl', 'enable', '--now', 'mailplane-edge')
    const ports = JSON.parse(run('cat', `${DATA}/edge/ports.json`))
    shell(
      `printf 'From: ${USER}\\r\\nTo: ${USER}\\r\\nSubject: by units\\r\\n\\r\\nhi\\r\\n' >/tmp/mail`,
    )
    const login = ['--silent', '--insecure', '--user', `${USER}:${PASSWORD}`]
    const sending = ['--mail-from', USER, '--mail-rcpt', USER, '--upload-file', '/tmp/mail']
    await until(() => succeeds('curl', `smtps://127.0.0.1:${ports.smtps}`, ...login, ...sending))
    const inbox = ['curl', `imaps://127.0.0.1:${ports.imaps}/INBOX;MAILINDEX=1`, ...login]
    await until(() => succeeds(...inbox))
    expect(run(...inbox)).toContain('Subject: by units')
  })

  it('the timer makes up for a missed night with a backup', async () => {
    const unit = 'mailplane-backup.timer'
    shell(
      `mkdir -p /etc/systemd/system/${unit}.d /var/lib/systemd/timers &&
       printf '[Timer]\\nRandomizedDelaySec=0\\n' >/etc/systemd/system/${unit}.d/now.conf &&
       touch --date='3 days ago' /var/lib/systemd/timers/stamp-${unit} && systemctl daemon-reload`,
    )
    run('systemctl', 'enable', '--now', unit)
    await until(() => property('mailplane-backup.service', 'ExecMainExitTimestamp') !== '')
    expect(property('mailplane-backup.service', 'Result')).toBe('success')
    expect(shell(`ls ${DATA}/backups`)).toMatch(/\S/)
  })

  it('a new certificate starts the command of the operator', async () => {
    const unit = 'mailplane-certificates.service'
    shell(
      `mkdir -p /etc/systemd/system/${unit}.d &&
       printf '[Service]\\nExecStart=\\nExecStart=/bin/true\\n' >/etc/systemd/system/${unit}.d/own.conf &&
       systemctl daemon-reload`,
    )
    run('systemctl', 'enable', '--now', 'mailplane-certificates.path')
    shell(`install -d -o mailplane ${DATA}/certificates/mail.acme.example`)
    await until(() => property(unit, 'ExecMainExitTimestamp') !== '')
    expect(property(unit, 'Result')).toBe('success')
  })

  it('everything stops when it is told to, and no unit has failed', async () => {
    run('systemctl', 'stop', 'mailplane-edge', 'mailplane', 'mailplane-helper')
    expect(property('mailplane', 'Result')).toBe('success')
    expect(property('mailplane-edge', 'Result')).toBe('success')
    expect(run('systemctl', 'list-units', '--failed', '--plain', '--no-legend')).toBe('')
    expect(shell('pgrep -c postgres || true').trim()).toBe('0')
  })
})
