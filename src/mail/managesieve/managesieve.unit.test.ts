import { afterEach, describe, expect, it } from 'vitest'
import { mailServersOf } from '../../../test/support/mail-server-settings.ts'
import {
  type Behaviour,
  MASTER,
  type SieveServer,
  startSieveServer,
} from '../../../test/support/sieve-server.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { readConfig } from '../../config/index.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { Refusal, SieveNotConfigured, SieveUnavailable } from './errors.ts'
import { manageSieve } from './managesieve.ts'

const JANE = 'jane@acme.test'
const UNAVAILABLE = new SieveUnavailable()

let server: SieveServer | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
})

const started = async (behaviour?: Behaviour) => {
  server = await startSieveServer(behaviour)
  return server
}

function clientOf(to: SieveServer, env: Record<string, string> = {}) {
  const clock = { now: 0 }
  const warnings: object[] = []
  const environment = { ...to.env(), ...env }
  const client = manageSieve({
    config: readConfig(environment),
    mailServers: mailServersOf(environment),
    now: () => new Date(clock.now),
    log: { warn: (...said: unknown[]) => void warnings.push(said) } as never,
  })
  return { ...client, clock, warnings }
}

describe('a ManageSieve session', () => {
  // Concurrent, because some of these take as long as the timeout.
  it.concurrent.each<Behaviour>([
    'hang',
    'reset',
    'hang-up',
    'garbage',
    'not-sieve',
    'endless-line',
    'endless-lines',
    'bye',
    'refuse-login',
    'hang-up-at-login',
    'hang-after-login',
    'bye-after-login',
    'huge-literal',
    'endless-answer',
    'unterminated-quote',
    'try-later',
  ])('fails in time with SieveUnavailable when the server behaves like: %s', async (behaviour) => {
    const hostile = await startSieveServer(behaviour)
    const start = performance.now()
    try {
      const { session } = clientOf(hostile)
      await expect(session(JANE, (scripts) => scripts.list())).rejects.toEqual(UNAVAILABLE)
      expect(performance.now() - start).toBeLessThan(4000)
      await waitFor(() => hostile.open() === 0)
    } finally {
      await hostile.stop()
    }
  })

  it.concurrent.each<Behaviour>([
    'no-starttls',
    'refuse-starttls',
    'plain-after-starttls',
    'inject-before-tls',
    'no-plain',
  ])('never sends the master password without TLS: %s', async (behaviour) => {
    const hostile = await startSieveServer(behaviour)
    try {
      const { session, isAvailable } = clientOf(hostile, { SIEVE_PROBE_ACCOUNT: JANE })
      await expect(session(JANE, (scripts) => scripts.list())).rejects.toEqual(UNAVAILABLE)
      expect(await isAvailable()).toBe(false)
      expect(hostile.logins).toEqual([])
    } finally {
      await hostile.stop()
    }
  })

  it('fails before the time-out with SieveUnavailable when the connection is refused', async () => {
    const { stop, env } = await startSieveServer()
    const settings = env()
    await stop()
    const start = performance.now()
    const { session } = clientOf({ env: () => settings } as SieveServer, { SIEVE_TIMEOUT: '20' })
    await expect(session(JANE, (scripts) => scripts.list())).rejects.toEqual(UNAVAILABLE)
    expect(performance.now() - start).toBeLessThan(20_000)
  })

  it.each(['IMAP_MASTER_USER', 'IMAP_MASTER_PASSWORD'])(
    'fails with SieveNotConfigured and does not connect without %s',
    async (name) => {
      const to = await started()
      const { session, isAvailable } = clientOf(to, { [name]: '' })
      const list = session(JANE, (scripts) => scripts.list())
      await expect(list).rejects.toEqual(new SieveNotConfigured())
      expect(await isAvailable()).toBe(false)
      expect(to.connections).toBe(0)
    },
  )

  it('verifies the certificate when SIEVE_TLS_VERIFY is true', async () => {
    const to = await started()
    const { session } = clientOf(to, { SIEVE_TLS_VERIFY: 'true' })
    await expect(session(JANE, (scripts) => scripts.list())).rejects.toEqual(UNAVAILABLE)
    expect(to.logins).toEqual([])
  })

  it('logs in as master user for the mailbox and stores scripts byte for byte', async () => {
    const to = await started()
    const { session } = clientOf(to)
    const text = `# "quotes" \\ {5}\r\n# ünïcödé 🔑 \r\n${'# long\r\n'.repeat(20_000)}`
    const name = 'a "name" \\ of its own'
    const result = await session(JANE, async (scripts) => {
      await scripts.put(name, text)
      await scripts.put('other', '')
      await scripts.activate(name)
      const listed = await scripts.list()
      await scripts.activate('')
      await scripts.remove('other')
      return { listed, text: await scripts.get(name), none: await scripts.get('other') }
    })
    expect(result).toEqual({
      listed: expect.arrayContaining([{ name: 'other', active: false }]),
      text,
      none: undefined,
    })
    expect(to.of(JANE).scripts).toEqual(new Map([[name, text]]))
    expect(to.logins).toEqual([{ mailbox: JANE, ...MASTER, secure: true }])
    await waitFor(() => to.open() === 0)
  })

  it('throws a refusal with the code and the text of the server', async () => {
    const to = await started()
    const { session } = clientOf(to)
    const refused = (behaviour: Behaviour) => {
      to.behaviour = behaviour
      return session(JANE, (scripts) => scripts.put('x', 'y')).catch((error) => error)
    }
    expect(await refused('no-space')).toMatchObject({
      command: 'PUTSCRIPT',
      code: 'QUOTA/MAXSIZE',
      message: 'Script is too large.',
    })
    expect(await refused('compiler')).toMatchObject({
      code: '',
      message: expect.stringContaining('unknown command `frobnicate"'),
    })
    expect(await refused('refuse')).toBeInstanceOf(Refusal)
    expect(await refused('refuse')).toMatchObject({ code: 'REFERRAL', message: 'not here' })
  })

  it('logs the reason of a failure without the master password', async () => {
    const to = await started('refuse-login')
    const { session, warnings } = clientOf(to)
    await session(JANE, (scripts) => scripts.list()).catch(() => {})
    expect(JSON.stringify(warnings)).toContain('the master login is refused')
    expect(JSON.stringify(warnings)).not.toContain(MASTER.password.slice(4, 10))
  })
})

describe('the availability probe of ManageSieve', () => {
  it('is cached for SIEVE_PROBE_TTL and runs once for concurrent callers', async () => {
    const to = await started('no-starttls')
    const { isAvailable, clock } = clientOf(to, { SIEVE_PROBE_TTL: '60' })
    expect(await Promise.all([isAvailable(), isAvailable()])).toEqual([false, false])
    expect(to.connections).toBe(1)
    to.behaviour = 'normal'
    expect(await isAvailable()).toBe(false)
    clock.now += MINUTE_MS
    expect(await Promise.all([isAvailable(), isAvailable()])).toEqual([true, true])
    to.behaviour = 'hang-up'
    clock.now += 59_999
    expect(await isAvailable()).toBe(true)
    expect(to.connections).toBe(2)
    clock.now += 1
    expect(await isAvailable()).toBe(false)
  })

  it('is replaced by the outcome of real sessions: a failure disables, a success enables', async () => {
    const to = await started()
    const { isAvailable, session } = clientOf(to)
    const list = () => session(JANE, (scripts) => scripts.list())
    expect(await isAvailable()).toBe(true)
    to.behaviour = 'bye-after-login'
    await expect(list()).rejects.toEqual(UNAVAILABLE)
    expect(await isAvailable()).toBe(false)
    to.behaviour = 'normal'
    expect(await isAvailable()).toBe(false)
    await list()
    expect(await isAvailable()).toBe(true)
  })

  it('stays available when the server is busy or refuses one command', async () => {
    const to = await started()
    const { isAvailable, session } = clientOf(to)
    for (const behaviour of ['try-later', 'refuse'] as const) {
      to.behaviour = behaviour
      await session(JANE, (scripts) => scripts.list()).catch(() => {})
      expect(await isAvailable()).toBe(true)
    }
    expect(to.connections).toBe(2)
  })

  it('has one time limit for all of its steps together', async () => {
    const to = await started()
    to.delayMs = 600
    const client = clientOf(to, { SIEVE_PROBE_ACCOUNT: JANE, SIEVE_TIMEOUT: '1' })
    expect(await client.isAvailable()).toBe(false)
    // In a real session the time limit applies to each command.
    await client.session(JANE, (scripts) => scripts.list())
    expect(await client.isAvailable()).toBe(true)
  })

  it('tries the master login when SIEVE_PROBE_ACCOUNT is set', async () => {
    const to = await started('refuse-login')
    expect(await clientOf(to).isAvailable()).toBe(true)
    expect(await clientOf(to, { SIEVE_PROBE_ACCOUNT: JANE }).isAvailable()).toBe(false)
    to.behaviour = 'normal'
    expect(await clientOf(to, { SIEVE_PROBE_ACCOUNT: JANE }).isAvailable()).toBe(true)
    expect(to.logins.map(({ mailbox }) => mailbox)).toEqual([JANE, JANE])
  })
})
