import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  containerEngine,
  containersMissing,
  ENGINE_TIMEOUT_MS,
  type Engine,
  productImages,
} from '../support/containers.ts'
import { ROOT } from '../support/documentation.ts'
import { cleanUp, until } from '../support/process.ts'
import { skipped } from '../support/programs.ts'

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const USER = 'admin@acme.example'
const PASSWORD = 'a-long-passphrase-1'
// As deploy/compose.yaml and the charts run it.
const CONFINED = [
  '--read-only',
  '--tmpfs=/tmp',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
]
const SETTINGS = [
  'SVC_SECRET_KEY=a root key that both containers share',
  'SVC_INTERNAL_TOKEN=a token that both containers share',
  'SVC_MAIL_HOSTNAME=mail.acme.example',
  'SVC_DOMAIN_OWNERSHIP=off',
].map((one) => `--env=${one}`)

describe.skipIf(containersMissing)(`the container images${skipped(containersMissing)}`, () => {
  let engine: Engine
  let server: string
  let edge: string
  beforeAll(async () => {
    engine = await containerEngine()
    productImages(engine)
  }, ENGINE_TIMEOUT_MS)
  afterAll(async () => {
    await engine?.close()
    await cleanUp()
  })

  const runs = (...args: string[]): boolean => {
    try {
      engine.podman(args)
      return true
    } catch {
      return false
    }
  }

  it.each(['mailplane', 'mailplane-edge'])('%s has the labels of its version', (name) => {
    const [image] = JSON.parse(engine.podman(['image', 'inspect', name]))
    expect(image.Config.Labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': 'abc',
      'org.opencontainers.image.licenses': 'Apache-2.0',
    })
  })

  it('serves without root, capabilities and a writable root folder', async () => {
    server = engine.start('mailplane-test', [
      '--network=none',
      ...CONFINED,
      ...SETTINGS,
      '--volume=mailplane-test-edge:/app/data/edge',
      '--env=QUEUE_MANAGER_URL=http://127.0.0.1:8090',
      '--env=SVC_SERVICES=api,worker,rate_limiter,content_filter,storage',
      'mailplane',
    ])
    await until(() => runs('healthcheck', 'run', server))
    expect(engine.podman(['exec', server, 'id', '--user', '--name'])).toBe('node\n')
    expect(engine.podman(['exec', server, 'mailplane', 'db', 'status'])).toContain(
      '0001_tenancy.sql',
    )
  })

  it('the edge takes a message on its fixed port and shows it over IMAP', async () => {
    const url = engine.podman(['exec', server, 'mailplane', 'db', 'url']).trim()
    edge = engine.start('mailplane-test-edge', [
      `--network=container:${server}`,
      '--cap-drop=all',
      '--cap-add=CHOWN,DAC_OVERRIDE,FOWNER,KILL,NET_BIND_SERVICE,SETGID,SETUID,SYS_CHROOT',
      ...SETTINGS,
      '--volume=mailplane-test-edge:/var/lib/mailplane/data/edge',
      `--env=DATABASE_URL=${url}`,
      '--env=PORT=8090',
      'mailplane-edge',
    ])
    await until(() => runs('healthcheck', 'run', edge))
    const token = engine.podman(['exec', server, 'cat', '/app/data/bootstrap-token']).trim()
    const first = { organization_name: 'Acme', admin_email: USER, admin_password: PASSWORD }
    const curl = (...args: string[]) =>
      engine.podman(['exec', edge, 'curl', '--silent', '--show-error', '--fail', ...args])
    curl(
      'http://127.0.0.1:8080/api/v1/bootstrap/',
      ...['--header', `X-Bootstrap-Token: ${token}`, '--json', JSON.stringify(first)],
    )
    const message = `From: ${USER}\r\nTo: ${USER}\r\nSubject: through both images\r\n\r\nhello\r\n`
    engine.podman([
      'exec',
      edge,
      'node',
      '--eval',
      `fs.writeFileSync('/tmp/mail', ${JSON.stringify(message)})`,
    ])
    const login = ['--insecure', '--user', `${USER}:${PASSWORD}`]
    const sending = ['--mail-from', USER, '--mail-rcpt', USER, '--upload-file', '/tmp/mail']
    // Rspamd compiles its patterns at the first start; mail is deferred meanwhile.
    await until(() =>
      runs('exec', edge, 'curl', '--silent', 'smtps://127.0.0.1:465', ...login, ...sending),
    )
    const inbox = 'imaps://127.0.0.1/INBOX;MAILINDEX=1'
    await until(() => runs('exec', edge, 'curl', '--silent', inbox, ...login))
    expect(curl(inbox, ...login)).toContain('Subject: through both images')
  })

  it('stops within its time when it is told to', () => {
    for (const name of [edge, server]) {
      engine.podman(['stop', '--time=60', name])
      const [container] = JSON.parse(engine.podman(['inspect', name]))
      expect([name, container.State.ExitCode]).toEqual([name, 0])
    }
  })
})
