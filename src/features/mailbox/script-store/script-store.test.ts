import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApp } from '../../../../test/support/app.ts'
import { MAILBOX, startWithSieve } from '../../../../test/support/holders.ts'
import type { Behaviour } from '../../../../test/support/sieve-server.ts'
import { waitFor } from '../../../../test/support/wait.ts'

let world: Awaited<ReturnType<typeof startWithSieve>>
beforeAll(async () => {
  world = await startWithSieve()
})
afterAll(() => world.stop())
beforeEach(() => {
  world.sieve.behaviour = 'normal'
})

const READS = ['forwarding', 'rules', 'vacation', 'blocked-senders']
const forwarding = { enabled: true, addresses: ['a@b.test'] }
const WRITES = [
  ['PUT', 'forwarding', forwarding],
  ['PUT', 'rules', { rules: [] }],
  ['PUT', 'vacation', { enabled: true, message: 'x' }],
  ['POST', 'blocked-senders', { address: 'a@b.test' }],
] as const
const COMPONENTS = ['svc-blocked-senders', 'svc-rules', 'svc-forwarding', 'svc-vacation']

describe('the filter settings of a mailbox', () => {
  it('require a mailbox session, and the CSRF token for changes', async () => {
    const jane = await world.holder('guarded')
    for (const path of [...READS, 'capabilities']) {
      const refused = { status: 401, body: { msg: 'Authentication required' } }
      expect(await jane.tenant.get(`${MAILBOX}/${path}`)).toMatchObject(refused)
    }
    const more = [
      ['POST', 'rules/test', {}],
      ['DELETE', 'blocked-senders/a@b.test', undefined],
    ] as const
    for (const [method, path, body] of [...WRITES, ...more]) {
      expect((await jane.tenant.call(method, `${MAILBOX}/${path}`, body)).status).toBe(401)
      const answer = await jane.call(method, `${MAILBOX}/${path}`, body, {
        headers: { 'x-csrf-token': 'guess' },
      })
      expect(answer).toMatchObject({ status: 403, body: { msg: 'CSRF token missing or invalid' } })
    }
    expect(jane.scripts.scripts.size).toBe(0)
  })

  it.each<[Behaviour, number, number, RegExp, string | undefined]>([
    ['try-later', 503, 503, /try again later/, 'sieve_unavailable'],
    ['refuse-login', 503, 503, /try again later/, 'sieve_unavailable'],
    ['bye-after-login', 503, 503, /try again later/, 'sieve_unavailable'],
    ['no-starttls', 503, 503, /try again later/, 'sieve_unavailable'],
    ['compiler', 200, 400, /line 3: error: unknown command `frobnicate"/, undefined],
    ['no-space', 200, 400, /^Script is too large\.$/, undefined],
    ['refuse', 502, 502, /^Could not (read|save) mail filters$/, undefined],
  ])(
    'return the documented error when the ManageSieve server behaves as: %s',
    async (behaviour, read, write, msg, code) => {
      const jane = await world.holder('misbehaving')
      world.sieve.behaviour = behaviour
      const shape = (status: number) =>
        status === 200
          ? { status }
          : { status, body: { type: 'error', msg: expect.stringMatching(msg) } }
      for (const path of READS) {
        const answer = await jane.get(`${MAILBOX}/${path}`)
        expect(answer).toMatchObject(shape(read))
        if (read !== 200) expect(answer.body.error_code).toBe(code)
      }
      for (const [method, path, body] of WRITES) {
        const answer = await jane.call(method, `${MAILBOX}/${path}`, body)
        expect(answer).toMatchObject(shape(write))
        expect(answer.body.error_code).toBe(code)
      }
      expect(jane.scripts.scripts.size).toBe(0)
    },
  )

  it('return sieve_not_configured without a master login', async () => {
    const app = await startApp()
    try {
      const tenant = await app.tenant('bare')
      const jane = await app.session('mailbox', tenant.accountId)
      const expected = { status: 503, body: { type: 'error', error_code: 'sieve_not_configured' } }
      for (const path of READS) {
        expect(await jane.get(`${MAILBOX}/${path}`)).toMatchObject(expected)
      }
      for (const [method, path, body] of WRITES) {
        expect(await jane.call(method, `${MAILBOX}/${path}`, body)).toMatchObject(expected)
      }
      const { capabilities } = (await jane.get(`${MAILBOX}/capabilities`)).body.data
      expect(capabilities).toMatchObject({ rules: false, forwarding: false, vacation: false })
    } finally {
      await app.stop()
    }
  })

  it.each(WRITES)(
    'are stored completely by %s %s before the main script is activated',
    async (method, path, body) => {
      const jane = await world.holder(`whole-${path}`)
      world.sieve.commands.length = 0
      expect((await jane.call(method, `${MAILBOX}/${path}`, body)).status).toBe(200)
      expect(jane.scripts.active).toBe('svc-main')
      expect(jane.scripts.scripts.get('svc-main')?.split('\r\n')).toEqual([
        'require ["include"];',
        ...COMPONENTS.map((name) => `include :personal :optional "${name}";`),
        '',
      ])
      const written = world.sieve.commands.filter((one) => /^(PUTSCRIPT|SETACTIVE)/.test(one))
      expect(written[0]).toBe(`PUTSCRIPT svc-${path}`)
      expect(written.slice(-2)).toEqual(['PUTSCRIPT svc-main', 'SETACTIVE svc-main'])
      expect([...jane.scripts.scripts.keys()].sort()).toEqual([...COMPONENTS, 'svc-main'].sort())
    },
  )

  it('do not change scripts with other names', async () => {
    const jane = await world.holder('others')
    jane.scripts.scripts.set('mine', 'keep;')
    jane.scripts.active = 'mine'
    world.sieve.commands.length = 0
    for (const [method, path, body] of WRITES) await jane.call(method, `${MAILBOX}/${path}`, body)
    expect(jane.scripts.scripts.get('mine')).toBe('keep;')
    expect(world.sieve.commands.filter((one) => one.includes('mine'))).toEqual([])
    expect(jane.scripts.active).toBe('svc-main')
  })

  it('are not managed while the script is foreign, until the first save', async () => {
    const jane = await world.holder('foreign')
    for (const name of COMPONENTS) jane.scripts.scripts.set(name, 'if true {\n  keep;\n}\n')
    const managed = async (path: string) => (await jane.get(`${MAILBOX}/${path}`)).body.data.managed
    for (const path of READS) expect(await managed(path)).toBe(false)
    for (const [method, path, body] of WRITES) {
      expect((await jane.call(method, `${MAILBOX}/${path}`, body)).body.data.managed).toBe(true)
      expect(await managed(path)).toBe(true)
    }
    // A script with only comments is not a foreign script.
    for (const name of COMPONENTS) jane.scripts.scripts.set(name, '# empty\r\n/* require */\r\n')
    for (const path of READS) expect(await managed(path)).toBe(true)
  })

  it('skip a rule with a malformed marker', async () => {
    const jane = await world.holder('broken')
    const rules = [1, 2, 3].map((n) => ({ id: `r${n}`, name: `Rule ${n}` }))
    await jane.put(`${MAILBOX}/rules`, { rules })
    const script = jane.scripts.scripts.get('svc-rules') ?? ''
    jane.scripts.scripts.set('svc-rules', script.replace('{"id":"r2"', '{"id:"r2"'))
    const { data } = (await jane.get(`${MAILBOX}/rules`)).body
    expect(data.rules.map(({ id }: { id: string }) => id)).toEqual(['r1', 'r3'])
    expect(data.managed).toBe(true)
  })

  it('are saved once for one Idempotency-Key', async () => {
    const jane = await world.holder('once')
    const headers = { 'idempotency-key': 'save-1' }
    const save = () => jane.put(`${MAILBOX}/rules`, { rules: [{}] }, { headers })
    const first = await save()
    const logins = world.sieve.logins.length
    const again = await save()
    expect(again.body.data).toEqual(first.body.data)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(world.sieve.logins).toHaveLength(logins)
  })

  it('do not delay other routes while the ManageSieve server hangs', async () => {
    const names = Array.from({ length: 6 }, (_, n) => `asleep${n}`)
    const holders = await Promise.all(names.map((name) => world.holder(name)))
    world.sieve.behaviour = 'hang-after-login'
    let isOver = false
    const saved = Promise.all(holders.map((one) => one.put(`${MAILBOX}/forwarding`, forwarding)))
    void saved.finally(() => {
      isOver = true
    })
    await waitFor(() => world.sieve.open() === names.length)
    const made = await holders[0]?.tenant.post('/api/v1/aliases/add', {
      source: 'info@asleep0.test',
      destination: 'jane@elsewhere.test',
    })
    expect(made?.status).toBe(200)
    expect(isOver).toBe(false)
    expect((await saved).map(({ status }) => status)).toEqual(names.map(() => 503))
  })
})

describe('the capabilities of a mailbox', () => {
  const capabilities = async (jane: Awaited<ReturnType<typeof world.holder>>) =>
    (await jane.get(`${MAILBOX}/capabilities`)).body

  it('report filters as off after a failure, and on after a success or a later probe', async () => {
    const jane = await world.holder('capable')
    const filters = async () => {
      const { rules, forwarding, vacation } = (await capabilities(jane)).data.capabilities
      expect([rules, forwarding]).toEqual([vacation, vacation])
      return vacation
    }
    await jane.get(`${MAILBOX}/rules`)
    expect(await capabilities(jane)).toMatchObject({
      msg: 'Capabilities',
      data: {
        email_address: jane.email,
        capabilities: {
          // The test has a ManageSieve server only.
          mail: false,
          send: false,
          settings: true,
          two_factor: true,
          rules: true,
          forwarding: true,
          vacation: true,
          encryption: true,
          ai: false,
        },
      },
    })
    world.sieve.behaviour = 'hang-up'
    expect(await filters()).toBe(true)
    expect((await jane.get(`${MAILBOX}/rules`)).status).toBe(503)
    expect(await filters()).toBe(false)
    world.sieve.behaviour = 'normal'
    expect(await filters()).toBe(false)
    // A successful request restores the capability before the next probe.
    expect((await jane.get(`${MAILBOX}/rules`)).status).toBe(200)
    expect(await filters()).toBe(true)
    world.sieve.behaviour = 'no-starttls'
    world.app.clock.advance(61_000)
    expect(await filters()).toBe(false)
    world.sieve.behaviour = 'normal'
    world.app.clock.advance(61_000)
    expect(await filters()).toBe(true)
  })
})
