import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, skipped } from '../support/edge.ts'
import { bootstrapBoth, ownerOf } from '../support/installation.ts'
import { startMailLoad, WITHOUT_LIMITS } from '../support/mail-load.ts'
import { cleanUp, run, type Server, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

/** `npm run bench:edge -- --only restarts` makes fifty. */
const RESTARTS = 3
const USER = 'admin@acme.test'

describe.skipIf(edgeMissing)(`restarts under load (N5, B4.3)${skipped}`, () => {
  let dataDir: string
  let server: Server
  let made: Awaited<ReturnType<typeof bootstrapBoth>>
  let ports: Record<string, { port: number }>
  // CONTENT_FILTER_PORT=0 must not leave the mail servers without a filter (N9).
  const env = {
    ...WITHOUT_LIMITS,
    SVC_COOKIE_SECURE: 'false',
    SVC_MAIL_HOSTNAME: 'mx.edge.test',
    CONTENT_FILTER_PORT: '0',
    // No server listens there: the test sends nothing outside.
    EDGE_RELAY_HOST: '[127.0.0.1]:9',
  }
  beforeAll(async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    dataDir = join(folder, 'data')
    const up = await run(['edge', 'up', '--json'], { DATA_DIR: dataDir, ...env })
    expect(up.stderr).toBe('')
    ports = JSON.parse(up.stdout)
    server = await startServer({ dataDir, env, hasEdge: true })
    made = await bootstrapBoth(server)
  })
  afterAll(async () => {
    await server?.stop()
    await run(['edge', 'down', '--delete'], { DATA_DIR: dataDir, ...env })
    await cleanUp()
  })

  const portOf = (name: string) => ports[name]?.port as number
  const file = (...path: string[]) => readFileSync(join(dataDir, 'edge', ...path), 'utf8')
  const loginsLogged = () =>
    file('log', 'dovecot.log')
      .split('\n')
      .filter((line) => line.includes(' auth'))
      .join('\n')
  const forgetLogins = () =>
    spawnSync('doveadm', [
      ...['-c', join(dataDir, 'edge', 'etc', 'dovecot', 'dovecot.conf')],
      ...['auth', 'cache', 'flush'],
    ])

  it('asks the ports of its own installation (N6)', () => {
    const rate = /^POLICY_RATE_PORT=(\d+)$/m.exec(file('edge.env'))?.[1]
    expect(rate).not.toBe('10031')
    expect(file('etc', 'postfix', 'main.cf')).toContain(`inet:127.0.0.1:${rate},`)
    const auth = /^AUTH_POLICY_PORT=(\d+)$/m.exec(file('edge.env'))?.[1]
    expect(file('etc', 'dovecot', 'dovecot.conf')).toContain(`127.0.0.1:${auth}/auth-policy`)
  })

  it('cause temporary failures only, and lose and double no mail', async () => {
    const load = startMailLoad({
      ports: {
        smtp: portOf('smtp'),
        submission: portOf('submission'),
        imaps: portOf('imaps'),
        lmtp: portOf('lmtp'),
      },
      user: USER,
      password: PASSWORD,
    })
    await load.succeeds()
    for (let restart = 0; restart < RESTARTS; restart++) {
      if (restart % 2 === 0) await server.stop()
      else await server.killNode()
      // Otherwise Dovecot would answer from its cache.
      forgetLogins()
      const before = load.counts.temporary
      await waitFor(() => load.counts.temporary > before)
      server = await startServer({ dataDir, env, hasEdge: true })
      await load.succeeds()
    }
    await load.stop()
    expect(load.permanent, loginsLogged()).toEqual([])
    const owner = ownerOf(server, made)
    await owner.post('/api/v1/queue/mail-queue/flush', { reason: 'a test' })
    await waitFor(async () => (await load.missing()).lost.length === 0)
    expect(await load.missing()).toEqual({ lost: [], doubled: [] })
    expect(file('log', 'mail.log')).not.toMatch(/to=<admin@acme\.test>.*status=bounced/)
  })

  it('are not stored as failed logins', async () => {
    const { status, body } = await ownerOf(server, made).get('/api/v1/security/failed-auth')
    expect(status).toBe(200)
    expect(body.data.items).toEqual([])
  })
})
