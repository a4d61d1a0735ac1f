import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeHost, HOST } from '../support/compose.ts'
import {
  containerEngine,
  containersMissing,
  ENGINE_TIMEOUT_MS,
  type Engine,
  productImages,
} from '../support/containers.ts'
import { cleanUp, temporaryFolder, until } from '../support/process.ts'
import { missingProgram, skipped } from '../support/programs.ts'

const missing = missingProgram('docker-compose', 'curl') ?? containersMissing

const USER = 'admin@acme.example'
const PASSWORD = 'a-long-passphrase-1'
const LOGIN = ['--user', `${USER}:${PASSWORD}`]

describe.skipIf(missing)(`the whole host of compose${skipped(missing)}`, () => {
  let engine: Engine
  let host: Awaited<ReturnType<typeof composeHost>>
  beforeAll(async () => {
    engine = await containerEngine()
    productImages(engine)
    host = await composeHost(engine)
    host.up()
  }, ENGINE_TIMEOUT_MS)
  afterAll(async () => {
    await engine?.close()
    await cleanUp()
  })

  const succeeds = (call: () => unknown): boolean => {
    try {
      call()
      return true
    } catch {
      return false
    }
  }
  const AT_CADDY = ['--resolve', `${HOST}:443:127.0.0.1`]
  const web = (path: string, ...args: string[]) =>
    host.curl(...AT_CADDY, `https://${HOST}${path}`, ...args)
  const send = (subject: string, ...args: string[]) => {
    const file = join(temporaryFolder(), 'message')
    writeFileSync(file, `From: ${USER}\r\nTo: ${USER}\r\nSubject: ${subject}\r\n\r\nhello\r\n`)
    const envelope = ['--mail-from', USER, '--mail-rcpt', USER, '--upload-file', file]
    host.curl(...args, ...LOGIN, ...envelope)
  }
  const inbox = (number: number) => `imaps://127.0.0.1/INBOX;MAILINDEX=${number}`
  const fetched = async (number: number) => {
    await until(() => succeeds(() => host.curl(inbox(number), ...LOGIN)))
    return host.curl(inbox(number), ...LOGIN)
  }

  it('answers over TLS through Caddy, and hides the metrics', async () => {
    await until(() => succeeds(() => web('/health')))
    expect(() => web('/metrics/prometheus')).toThrow('404')
    expect(() => host.curl('http://127.0.0.1:8080/health')).toThrow('curl')
    const moved = host.curl('--head', '--header', `Host: ${HOST}`, 'http://127.0.0.1/app')
    expect(moved).toContain(`Location: https://${HOST}/app`)
  })

  it('takes mail over submission and shows it over IMAP', async () => {
    const token = host.inside('mailplane', 'cat', '/app/data/bootstrap-token').trim()
    const first = { organization_name: 'Acme', admin_email: USER, admin_password: PASSWORD }
    web(
      '/api/v1/bootstrap/',
      ...['--header', `X-Bootstrap-Token: ${token}`, '--json', JSON.stringify(first)],
    )
    // Rspamd compiles its patterns at the first start; mail is deferred meanwhile.
    await until(() => succeeds(() => send('over 465', 'smtps://127.0.0.1:465')))
    expect(await fetched(1)).toContain('Subject: over 465')
    send('over 587', 'smtp://127.0.0.1:587', '--ssl-reqd')
    expect(await fetched(2)).toContain('Subject: over 587')
  })

  it('refuses a wrong password and a submission without TLS', () => {
    expect(() => host.curl(inbox(1), '--user', `${USER}:wrong`)).toThrow('curl: (67)')
    expect(() => send('plain', 'smtp://127.0.0.1:587')).toThrow('curl: (')
  })

  it('is scraped by Prometheus, which loads the rules', async () => {
    const ask = (path: string) =>
      JSON.parse(
        host.inside('prometheus', 'curl', '--silent', `http://127.0.0.1:9090/api/v1${path}`),
      )
    await until(() => ask('/query?query=up').data.result[0]?.value[1] === '1')
    const [series] = ask('/query?query=api_http_requests_total').data.result
    expect(series.metric).toMatchObject({ job: 'mailplane', instance: 'mailplane:8080' })
    const names = ask('/rules').data.groups.map(({ name }: { name: string }) => name)
    expect(names.sort()).toEqual(['mailplane-alerts', 'mailplane-rates'])
  })

  it('starts the mail servers anew after a kill', async () => {
    const pidOf = () =>
      engine.podman(['inspect', '--format={{.State.Pid}}', host.containerOf('edge')]).trim()
    const before = pidOf()
    engine.run('kill', ['-KILL', before])
    await until(() => !['0', before].includes(pidOf()))
    await until(() => succeeds(() => send('after the kill', 'smtps://127.0.0.1:465')))
    expect(await fetched(3)).toContain('Subject: after the kill')
  })
  it('has its mail, its people and its certificate after down and up', async () => {
    const idOf = (service: string) =>
      engine.podman(['inspect', '--format={{.Id}}', host.containerOf(service)])
    const certificate = () =>
      host.inside('edge', 'sh', '-c', 'cat $(postconf -h smtpd_tls_cert_file) | openssl sha256')
    const before = { edge: idOf('edge'), certificate: certificate() }
    host.down()
    expect(() => host.curl(inbox(1), ...LOGIN)).toThrow('curl: (7)')
    host.up()
    expect(await fetched(3)).toContain('Subject: after the kill')
    await until(() => succeeds(() => send('after down and up', 'smtps://127.0.0.1:465')))
    expect(await fetched(4)).toContain('Subject: after down and up')
    await until(() => succeeds(() => web('/health')))
    const signedIn = web(
      '/api/v1/auth/login',
      ...['--json', JSON.stringify({ email: USER, password: PASSWORD })],
    )
    expect(JSON.parse(signedIn).type).toBe('success')
    expect(idOf('edge')).not.toBe(before.edge)
    expect(certificate()).toBe(before.certificate)
  })
})
