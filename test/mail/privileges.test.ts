import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountOf } from '../../src/edge/accounts.ts'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, skipped } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { bootstrapBoth, ownerOf } from '../support/installation.ts'
import {
  cleanUp,
  MAIN,
  run,
  type Server,
  startServer,
  temporaryFolder,
  workersIn,
} from '../support/process.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

/** An account of every Debian that owns nothing here. */
const NAME = 'www-data'
const { uid: USER } = accountOf(NAME)

interface Process {
  pid: number
  parent: number
  uid: number
  program: string
}

/** All processes of the machine. */
const processes = (): Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8')
        const field = (key: string) =>
          Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1])
        const program = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return [{ pid: Number(name), parent: field('PPid'), uid: field('Uid'), program }]
      } catch {
        return []
      }
    })

const below = (pid: number, all = processes()): Process[] =>
  all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid, all)])

describe.skipIf(edgeMissing)(`mailplane serve as root with SVC_USER (S24)${skipped}`, () => {
  let dataDir: string
  let server: Server
  let apiKey: string
  let owner: ReturnType<typeof ownerOf>
  let made: Awaited<ReturnType<typeof bootstrapBoth>>
  let env: Record<string, string>
  let ports: Record<string, { port: number }>
  beforeAll(async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    dataDir = join(folder, 'data')
    env = {
      SVC_USER: NAME,
      SVC_COOKIE_SECURE: 'false',
      // No server listens there, so outgoing mail waits in the queue.
      EDGE_RELAY_HOST: '[127.0.0.1]:9',
      SVC_MAIL_HOSTNAME: 'mx.edge.test',
    }
    const up = await run(['edge', 'up', '--json'], { DATA_DIR: dataDir, ...env })
    expect(up.stderr).toBe('')
    ports = JSON.parse(up.stdout)
    server = await startServer({ dataDir, env, hasEdge: true })
    made = await bootstrapBoth(server)
    apiKey = made.apiKey
    owner = ownerOf(server, made)
  })
  afterAll(async () => {
    await server?.stop()
    await run(['edge', 'down', '--delete'], { DATA_DIR: dataDir, ...env })
    await cleanUp()
  })

  const helperSocket = () => {
    const [child] = below(server.pid).filter(({ program }) => program.includes(' serve'))
    const environment = readFileSync(`/proc/${child?.pid}/environ`, 'utf8').split('\0')
    const line = environment.find((one) => one.startsWith('SVC_HELPER_SOCKET=')) ?? ''
    return line.slice(line.indexOf('=') + 1)
  }
  const ask = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let answer = ''
      const socket = connect(helperSocket(), () => socket.write(text))
      socket.setEncoding('utf8').on('data', (part) => {
        answer += part
      })
      socket.once('close', () => resolve(answer)).once('error', reject)
    })
  const receive = async (subject: string, from = 'a@elsewhere.test', to = 'admin@acme.test') => {
    const smtp = await openSmtp({ port: ports.smtp?.port as number })
    const reply = await smtp.send({ from, to, text: message(from, to, subject) })
    smtp.quit()
    return reply.code
  }

  it('leaves root to the helper alone: the server and its PostgreSQL run as the user', () => {
    const helper = processes().find(({ pid }) => pid === server.pid)
    expect(helper?.uid).toBe(0)
    const others = below(server.pid)
    expect(others.some(({ program }) => program.includes('main.js serve'))).toBe(true)
    expect(others.some(({ program }) => program.includes('postgres'))).toBe(true)
    expect([...new Set(others.map(({ uid }) => uid))]).toEqual([USER])
    for (const name of ['secret-key', 'postgres', 'logs']) {
      expect(statSync(join(dataDir, name)).uid, name).toBe(USER)
    }
    expect(statSync(dataDir)).toMatchObject({ uid: 0, gid: USER })
  })

  it('delivers mail, and writes keys for Rspamd through the helper', async () => {
    await waitFor(async () => (await receive('hello')) === 250)
    await waitFor(async () => {
      const mails = await mailIn(ports.imaps?.port as number, 'admin@acme.test', PASSWORD)
      return mails.some((text) => text.includes('Subject: hello'))
    })
    const { body } = await server.send('GET', '/api/v1/domains/', {
      headers: { 'x-api-key': apiKey },
    })
    const id = body.data.items.find((one: { domain: string }) => one.domain === 'acme.test').id
    const rotated = await owner.post(`/api/v1/domains/${id}/dkim/rotate`, { reason: 'a test' })
    expect(rotated.status).toBeLessThan(300)
    const keys = join(dataDir, 'edge', 'dkim', 'keys')
    await waitFor(() => existsSync(keys) && readdirSync(keys).includes('acme.test'))
    expect(statSync(join(keys, 'acme.test'))).toMatchObject(accountOf('_rspamd'))
  })

  it('reads the mail log, and lists, holds, releases and deletes messages of the queue', async () => {
    const smtp = await openSmtp({ port: ports.submission?.port as number })
    await smtp.startTls()
    expect((await smtp.auth('admin@acme.test', PASSWORD)).code).toBe(235)
    const to = 'friend@elsewhere.test'
    const reply = await smtp.send({
      from: 'admin@acme.test',
      to,
      text: message('admin@acme.test', to, 'waits'),
    })
    smtp.quit()
    expect(reply.code).toBe(250)
    const deferred = await waitFor(async () => {
      const { body } = await owner.get('/api/v1/queue/mail-queue/deferred')
      return JSON.stringify(body.data ?? '').includes(to) && body.data
    })
    const id = /"queue_id":"(\w+)"/.exec(JSON.stringify(deferred))?.[1]
    const held = await owner.post(`/api/v1/queue/message/${id}/hold`, { reason: 'a test' })
    expect(held.status).toBe(200)
    const released = await owner.post(`/api/v1/queue/message/${id}/release`, { reason: 'a test' })
    expect(released.status).toBe(200)
    const flushed = await owner.post('/api/v1/queue/mail-queue/flush', { reason: 'a test' })
    expect(flushed.status).toBe(200)
    const deleted = await owner.post('/api/v1/queue/mail-queue/by-sender', {
      sender: '@acme.test',
      action: 'delete',
      dry_run: false,
      reason: 'a test',
    })
    expect(deleted).toMatchObject({ status: 200, body: { data: { matched: 1, changed: 1 } } })
  })

  it('reads the logs of the mail servers through the helper (B8)', async () => {
    for (const service of ['postfix', 'dovecot', 'rspamd']) {
      const { body } = await owner.get(`/api/v1/platform/logs?service=${service}&lines=2000`)
      expect(body.data.available_services, service).toContain(service)
      const lines = body.data.lines as Record<string, string>[]
      expect(lines.length, service).toBeGreaterThan(0)
      expect(lines.every((line) => line.service === service && line.timestamp !== null)).toBe(true)
    }
    for (const file of ['dovecot.log', 'rspamd.log']) {
      expect(statSync(join(dataDir, 'edge', 'log', file)).mode & 0o044).toBe(0)
    }
    const { body } = await owner.get(
      '/api/v1/platform/logs?service=postfix&q=friend@elsewhere.test',
    )
    expect(body.data.lines.length).toBeGreaterThan(0)
    const printed = await run(['logs', '--service', 'dovecot', '--lines', '1'], {
      DATA_DIR: dataDir,
      ...env,
    })
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(printed.stdout).toMatch(/^\d{4}-\S+Z dovecot /)
    const trail = await owner.get('/api/v1/platform/audit?action=tail_logs&per_page=200')
    expect(trail.text).toContain('command line')
  })

  it('restarts a server of the private edge', async () => {
    const path = '/api/v1/monitoring/services/rspamd/restart'
    expect(await owner.post(path, { reason: 'a test' })).toMatchObject({
      status: 200,
      body: { data: { service: 'rspamd', status: 'success' } },
    })
  })

  it('accepts connections of the user alone', () => {
    const { uid, mode } = statSync(helperSocket())
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: USER, mode: 0o600 })
  })

  it.each([
    ['an unknown verb', '["run",{"program":"/bin/sh"}]', 'does not know'],
    ['a verb of every object', '["constructor",{}]', 'does not know'],
    ['a queue id that is an option', queue('hold', '-'), 'malformed'],
    ['the whole queue', queue('hold', 'ALL'), 'malformed'],
    [
      'a verb without its message',
      '["queue",{"command":{"verb":"hold"},"timeoutMs":9}]',
      'not a queue',
    ],
    ['another program', queue('expire', '4bXYZ12345'), 'malformed'],
    ['a path', '["queue",{"command":{"verb":"list"},"timeoutMs":9,"config":"/tmp"}]', 'malformed'],
    ['another server', '["restart",{"server":"sshd"}]', 'malformed'],
    ['the log of another program', '["server-log",{"server":"auth"}]', 'malformed'],
    ['the path of a log', '["server-log",{"server":"rspamd","path":"/etc/shadow"}]', 'malformed'],
    ['a domain that is a path', keys('../../etc'), 'cannot be the name'],
    ['a certificate for no host', certificate('x { }'), 'not a name'],
    ['no JSON', 'hello', 'JSON'],
  ])('refuses %s', async (_what, line, reason) => {
    expect(JSON.parse(await ask(`${line}\n`))).toEqual({ error: expect.stringContaining(reason) })
  })

  it('ends with the server, and the server with it', async () => {
    const children = below(server.pid).map(({ pid }) => pid)
    server.signal('SIGKILL')
    await waitFor(() => processes().every(({ pid }) => !children.includes(pid)))
    server = await startServer({ dataDir, env, hasEdge: true })
    expect((await server.health()).status).toBe(200)
    expect((await server.stop()).code).toBe(0)
  })

  it('serves a server that another program starts as the user', async () => {
    const socket = join(dataDir, '..', 'helper')
    const helper = spawn(process.execPath, [MAIN, 'helper', '--socket', socket], {
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(helper, 'close')
    try {
      await once(helper.stdout, 'data')
      server = await startServer({
        dataDir,
        env: { ...env, SVC_HELPER_SOCKET: socket },
        uid: USER,
        hasEdge: true,
      })
      owner = ownerOf(server, made)
      const { status } = await owner.get('/api/v1/queue/mail-queue/deferred')
      expect(status).toBe(200)
      // Its sandbox would become that of the mail server.
      const path = '/api/v1/monitoring/services/rspamd/restart'
      expect(await owner.post(path, { reason: 'a test' })).toMatchObject({
        status: 503,
        body: { status: 'failed', error: expect.stringContaining('restarts no server') },
      })
      await server.stop()
    } finally {
      helper.kill('SIGTERM')
    }
    expect(await ended).toEqual([0, null])
  })
})

describe.skipIf(edgeMissing)(`a data folder of root (S24)${skipped}`, () => {
  afterAll(cleanUp)

  it('names the folder that is closed to the user', async () => {
    const folder = temporaryFolder()
    const start = () =>
      startServer({ dataDir: join(folder, 'data'), env: { SVC_USER: NAME }, hasEdge: true })
    await expect(start()).rejects.toThrow(
      `${folder} is closed to it; open it (chmod o+x ${folder})`,
    )
  })

  it('goes to the user without its links, after a kill of the server of root', async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o711)
    const dataDir = join(folder, 'data')
    const root = await startServer({ dataDir, env: { SVC_USER: 'root' }, hasEdge: true })
    const second = startServer({ dataDir, env: { SVC_USER: NAME }, hasEdge: true })
    await expect(second).rejects.toThrow('is in use by another Mailplane')
    expect((await root.health()).status).toBe(200)
    await root.killNode()
    const orphans = workersIn(dataDir)
    expect(orphans).not.toEqual([])

    const foreign = join(folder, 'foreign')
    writeFileSync(foreign, 'of root')
    symlinkSync(foreign, join(dataDir, 'logs', 'symbolic'))
    linkSync(foreign, join(dataDir, 'logs', 'hard'))
    const server = await startServer({ dataDir, env: { SVC_USER: NAME }, hasEdge: true })
    expect((await server.health()).status).toBe(200)
    expect(workersIn(dataDir).filter((pid) => orphans.includes(pid))).toEqual([])
    expect(statSync(join(dataDir, 'postgres', 'PG_VERSION')).uid).toBe(USER)
    expect(statSync(foreign).uid).toBe(0)
    await server.stop()
  })
})

function queue(verb: string, queueId: string): string {
  const command = { verb, queueIds: [queueId] }
  return JSON.stringify(['queue', { command, timeoutMs: 1000 }])
}

function keys(domain: string): string {
  return JSON.stringify(['signing-keys', { domain, keys: [], signing: 's1' }])
}

function certificate(domain: string): string {
  const version = '0'.repeat(64)
  return JSON.stringify([
    'certificates',
    { certificates: [{ domain, names: [], pem: '' }], version },
  ])
}
