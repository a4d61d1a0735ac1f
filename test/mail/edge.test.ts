import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { runningEmbedded, urlOf } from '../../src/database/embedded.ts'
import { accountOf } from '../../src/edge/accounts.ts'
import { workersIn } from '../../src/edge/processes.ts'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, skipped } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { bootstrapBoth } from '../support/installation.ts'
import { cleanUp, run, startServer, temporaryFolder, until } from '../support/process.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

interface Listener {
  host: string
  port: number
}

describe.skipIf(edgeMissing)(`mailplane edge${skipped}`, () => {
  const folders: string[] = []
  /** A data folder whose edge is stopped and removed after the test. */
  const newFolder = (...below: string[]) => {
    const dataDir = join(temporaryFolder(), ...below, 'data')
    folders.push(dataDir)
    return dataDir
  }
  const edge = async (dataDir: string, ...args: string[]) => {
    const { code, stdout, stderr } = await run(['edge', ...args], { DATA_DIR: dataDir })
    return { code, stderr, stdout, json: () => JSON.parse(stdout) }
  }
  afterEach(async () => {
    for (const dataDir of folders.splice(0)) await edge(dataDir, 'down', '--delete')
    await cleanUp()
  })

  const delivered = async (ports: { smtp: Listener; imaps: Listener }, email: string) => {
    const smtp = await openSmtp({ port: ports.smtp.port })
    const text = message('a@elsewhere.test', email, 'hello')
    const reply = await smtp.send({ from: 'a@elsewhere.test', to: email, text })
    smtp.quit()
    if (reply.code !== 250) return reply.text
    return waitFor(async () => {
      const imap = await openImap({ port: ports.imaps.port })
      await imap.login(email, PASSWORD)
      const mails = await imap.messages()
      imap.end()
      return mails.length > 0 && 'delivered'
    })
  }

  /** The last lines of Postfix and PostgreSQL, which explain a refused message. */
  const logsOf = (dataDir: string) =>
    ['edge/log/mail.log', 'logs/postgres.log']
      .flatMap((file) => readFileSync(join(dataDir, file), 'utf8').split('\n').slice(-20))
      .join('\n')

  it('refuses an unknown verb', async () => {
    const dataDir = newFolder()
    expect((await edge(dataDir)).code).toBe(2)
    expect((await edge(dataDir, 'sideways')).code).toBe(2)
    expect(await edge(dataDir, 'down')).toMatchObject({
      code: 0,
      stdout: 'There is no mail edge\n',
    })
    expect((await edge(dataDir, 'status', '--json')).json()).toEqual([])
  })

  it('refuses the data folder of an ordinary user with the command that helps (N1)', async () => {
    const dataDir = newFolder()
    mkdirSync(dataDir, { recursive: true })
    const { uid, gid } = accountOf('www-data')
    chownSync(dataDir, uid, gid)
    const { code, stderr } = await edge(dataDir, 'up')
    expect(code).toBe(1)
    expect(stderr).toMatch(/belongs to www-data.*sudo SVC_USER=www-data npm start/)
    expect(existsSync(join(dataDir, 'edge'))).toBe(false)
  })

  it('and mailplane serve make a working mail host, in either order', async () => {
    const dataDir = newFolder()
    const first = await edge(dataDir, 'up', '--json')
    expect(first.stderr).toBe('')
    const ports = first.json()
    for (const name of ['imap', 'imaps', 'pop3s', 'smtp', 'submission', 'smtps', 'lmtp', 'sieve']) {
      expect(ports[name]).toEqual({ host: '127.0.0.1', port: expect.any(Number) })
    }
    expect(ports).toMatchObject({
      doveadm_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      master_user: expect.any(String),
    })
    expect(existsSync(ports.log_file)).toBe(true)
    expect(existsSync(join(ports.postfix_config_dir, 'main.cf'))).toBe(true)
    const certificate = new X509Certificate(readFileSync(ports.ca_file))
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(statSync(ports.env_file).mode & 0o777).toBe(0o600)

    const env = { SVC_COOKIE_SECURE: 'false' }
    let server = await startServer({ dataDir, env, hasEdge: true })
    await bootstrapBoth(server)
    const outcome = await delivered(ports, 'admin@acme.test')
    expect(outcome, logsOf(dataDir)).toBe('delivered')
    const login = () =>
      server.send('POST', '/api/v1/mailbox-auth/login', {
        body: { email_address: 'admin@acme.test', password: PASSWORD },
      })
    expect((await login()).status).toBe(200)

    // Down and up again under a running server, which needs no restart.
    expect((await edge(dataDir, 'down')).code).toBe(0)
    expect((await login()).status).toBe(503)
    expect((await edge(dataDir, 'up', '--json')).json()).toEqual(ports)
    expect((await login()).status).toBe(200)

    // The database returns at the path that the mail servers use.
    await server.stop()
    server = await startServer({ dataDir, env, hasEdge: true })
    expect((await login()).status).toBe(200)
    expect(await delivered(ports, 'admin@acme.test')).toBe('delivered')
  })

  it('uses other ports when the default ports are taken', async () => {
    const dataDir = newFolder()
    const starting = edge(dataDir, 'up', '--json')
    const file = join(dataDir, 'edge', 'ports.json')
    await until(() => existsSync(file))
    const { imap, smtp } = JSON.parse(readFileSync(file, 'utf8'))
    const others = [imap, smtp].map((port) => createServer().listen(port, '127.0.0.1'))
    await Promise.all(others.map((other) => once(other, 'listening')))
    const started = await starting
    for (const other of others) other.close()
    expect(started).toMatchObject({ code: 0, stderr: '' })
    const ports = started.json()
    expect(ports.imap.port).not.toBe(imap)
    expect(ports.smtp.port).not.toBe(smtp)
    // Only that it listens: without its database Dovecot sends no greeting.
    for (const { port } of [ports.imap, ports.smtp, ports.imaps]) {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.destroy()
    }
  })

  it('follows the database to another port, as the log of the server says', async () => {
    const dataDir = newFolder()
    const ports = (await edge(dataDir, 'up', '--json')).json()
    const kept = Number(readFileSync(join(dataDir, 'postgres-port'), 'utf8'))
    const other = createServer().listen(kept, '127.0.0.1')
    await once(other, 'listening')
    const server = await startServer({
      dataDir,
      env: { SVC_COOKIE_SECURE: 'false' },
      hasEdge: true,
    })
    other.close()
    const moved = Number(readFileSync(join(dataDir, 'postgres-port'), 'utf8'))
    expect(moved).not.toBe(kept)
    expect(readFileSync(join(dataDir, 'logs', 'api.log'), 'utf8')).toContain(
      `another program uses port ${kept}, so the embedded PostgreSQL listens on ${moved}`,
    )
    await bootstrapBoth(server)
    expect(await delivered(ports, 'admin@acme.test')).toMatch(/^451 /)
    expect((await edge(dataDir, 'up', '--json')).json()).toEqual(ports)
    expect(await delivered(ports, 'admin@acme.test')).toBe('delivered')
  })

  it('makes the data folder of a host whose database is elsewhere', async () => {
    const server = await startServer({ dataDir: newFolder() })
    const database = runningEmbedded(server.dataDir)
    if (!database) throw new Error('there is no database')
    const folder = temporaryFolder()
    const rendered = await run(['edge', 'render', '--out', join(folder, 'out')], {
      DATA_DIR: join(folder, 'not', 'there'),
      DATABASE_URL: urlOf(database),
    })
    expect(rendered).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(join(folder, 'not', 'there', 'secret-key'))).toBe(true)
    expect(existsSync(join(folder, 'out', 'postfix', 'main.cf'))).toBe(true)
  })

  it('up changes nothing when it runs, and restarts after a kill or a change', async () => {
    const dataDir = newFolder()
    const ports = (await edge(dataDir, 'up', '--json')).json()
    const pids = async () => (await edge(dataDir, 'status', '--json')).json()
    const before = await pids()
    expect(before.every((one: { running: boolean }) => one.running)).toBe(true)
    expect((await edge(dataDir, 'up', '--json')).json()).toEqual(ports)
    expect(await pids()).toEqual(before)

    for (const { pid } of before) process.kill(pid, 'SIGKILL')
    await waitFor(async () => (await pids()).every((one: { running: boolean }) => !one.running))
    expect((await edge(dataDir, 'up', '--json')).json()).toEqual(ports)
    const after = await pids()
    expect(after.every((one: { running: boolean }) => one.running)).toBe(true)

    const changed = await run(['edge', 'up', '--json'], {
      DATA_DIR: dataDir,
      EDGE_RELAY_HOST: '[127.0.0.1]:2525',
    })
    expect(JSON.parse(changed.stdout)).toEqual(ports)
    expect(await pids()).not.toEqual(after)
    expect(readFileSync(join(ports.postfix_config_dir, 'main.cf'), 'utf8')).toContain(
      'relayhost = [127.0.0.1]:2525',
    )
  })

  it('down leaves no process behind and does not kill an unrelated process named in a pid file', async () => {
    const dataDir = newFolder()
    await edge(dataDir, 'up')
    const folder = join(dataDir, 'edge')
    expect(workersIn(folder).length).toBeGreaterThan(3)
    expect((await edge(dataDir, 'down')).code).toBe(0)
    expect(workersIn(folder)).toEqual([])
    writeFileSync(join(folder, 'run', 'master.pid'), `${process.pid}\n`)
    expect((await edge(dataDir, 'status', '--json')).json()[2]).toMatchObject({ running: false })
    expect((await edge(dataDir, 'down')).code).toBe(0)
    expect((await edge(dataDir, 'up')).code).toBe(0)
  })

  it('uses another folder when its users cannot enter the data folder or its path is too long', async () => {
    const closed = newFolder('closed')
    mkdirSync(closed, { recursive: true })
    chmodSync(join(closed, '..'), 0o700)
    expect((await edge(closed, 'up')).code).toBe(0)
    expect(lstatSync(join(closed, 'edge')).isSymbolicLink()).toBe(true)
    const long = newFolder('x'.repeat(80))
    expect((await edge(long, 'up')).code).toBe(0)
    expect(lstatSync(join(long, 'edge')).isSymbolicLink()).toBe(true)
    const place = statSync(join(long, 'edge'))
    expect((await edge(long, 'down', '--delete')).code).toBe(0)
    expect(place.isDirectory() && existsSync(join(long, 'edge'))).toBe(false)
  })
})
