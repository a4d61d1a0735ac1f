import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApp } from '../../../test/support/app.ts'
import { MAILBOX, startWithSieve } from '../../../test/support/holders.ts'
import { insertMailbox } from '../../../test/support/mailboxes.ts'

const FILTERS = '/api/v1/filters/'
const at = (email: string, path = '') => `${FILTERS}${path}?email=${encodeURIComponent(email)}`

let world: Awaited<ReturnType<typeof startWithSieve>>
beforeAll(async () => {
  world = await startWithSieve()
})
afterAll(() => world.stop())
beforeEach(() => {
  world.sieve.behaviour = 'normal'
})

const eventsOf = async (email: string) =>
  (await world.app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ data }) => (data as { email?: string }).email === email)
    .map(({ event, org_id, domain, data }) => ({ event, org_id, domain, data }))

/** One request for every route that takes a mailbox. */
const calls = (email: string) =>
  [
    ['GET', at(email), undefined],
    ['GET', at(email, 'mine'), undefined],
    ['POST', at(email), { name: 'mine', content: 'keep;' }],
    ['PUT', at(email, 'mine/activate'), undefined],
    ['DELETE', at(email, 'mine'), undefined],
    ['POST', at(email, 'vacation'), { enabled: true, message: 'x' }],
  ] as const

describe('tenant filters', () => {
  it('returns 404 for an unknown, suspended or foreign mailbox on every route', async () => {
    const { tenant } = await world.holder('acme')
    const globex = await world.holder('globex')
    const asleep = await insertMailbox(world.app, tenant, { status: 'suspended' })
    for (const email of ['nobody@acme.test', globex.email, asleep.email]) {
      for (const [method, path, body] of calls(email)) {
        expect(await tenant.call(method, path, body)).toMatchObject({
          status: 404,
          body: { msg: `Account ${email} not found` },
        })
      }
    }
    for (const [method, path, body] of calls('')) {
      expect((await tenant.call(method, path.split('?')[0] ?? '', body)).status).toBe(422)
    }
    expect(globex.scripts.scripts.size).toBe(0)
  })

  it('returns 503 when ManageSieve is unavailable or not configured and 502 when it refuses', async () => {
    const { tenant, email } = await world.holder('down')
    world.sieve.behaviour = 'hang-up'
    const bare = await startApp()
    try {
      const other = await bare.tenant('bare')
      for (const [method, path, body] of calls(email)) {
        expect(await tenant.call(method, path, body)).toMatchObject({
          status: 503,
          body: { type: 'error', error_code: 'sieve_unavailable' },
        })
      }
      for (const [method, path, body] of calls(other.email)) {
        expect(await other.call(method, path, body)).toMatchObject({
          status: 503,
          body: { error_code: 'sieve_not_configured' },
        })
      }
    } finally {
      await bare.stop()
    }
    world.sieve.behaviour = 'refuse'
    const refused = await Promise.all(
      calls(email).map(([method, path, body]) => tenant.call(method, path, body)),
    )
    expect(refused.map(({ status }) => status)).toEqual([502, 502, 502, 502, 502, 502])
    expect(await eventsOf(email)).toEqual([])
  })

  it.each(['', 'a b', 'a/b', 'ä', 'a"b', 'x'.repeat(65), '../x', 'a.b'])(
    'rejects the script name %j with 400',
    async (name) => {
      const { tenant, email } = await world.holder('names')
      expect(await tenant.post(at(email), { name, content: 'keep;' })).toMatchObject({
        status: 400,
        body: { msg: 'Script name must be alphanumeric (with hyphens/underscores)' },
      })
    },
  )

  it("rejects changes of the mailbox holder's own scripts with 400", async () => {
    const { tenant, email, scripts } = await world.holder('reserved')
    scripts.scripts.set('svc-main', 'keep;')
    for (const name of ['svc-main', 'SVC-other']) {
      for (const answer of [
        await tenant.post(at(email), { name, content: 'keep;', active: true }),
        await tenant.put(at(email, `${name}/activate`)),
        await tenant.delete(at(email, name)),
      ]) {
        expect(answer).toMatchObject({
          status: 400,
          body: { msg: expect.stringContaining("are the mailbox holder's own") },
        })
      }
    }
    expect(scripts.scripts).toEqual(new Map([['svc-main', 'keep;']]))
  })

  it('saves, reads, activates and deletes a script and emits an event for each change', async () => {
    const { tenant, email, scripts } = await world.holder('life')
    const content = 'require ["fileinto"];\nfileinto "ü";\n'
    const about = { org_id: tenant.organizationId, domain: 'life.test' }
    expect(await tenant.post(at(email.toUpperCase()), { name: 'mine', content })).toMatchObject({
      status: 200,
      body: { type: 'success', msg: "Script 'mine' saved", data: { name: 'mine', active: false } },
    })
    expect(await tenant.get(at(email, 'mine'))).toMatchObject({
      status: 200,
      body: {
        data: {
          name: 'mine',
          content,
          active: false,
          size: Buffer.byteLength(content),
          created_at: null,
          managed: false,
        },
      },
    })
    expect(await tenant.put(at(email, 'mine/activate'))).toMatchObject({
      status: 200,
      body: { msg: "Script 'mine' is now active", data: { active: true } },
    })
    expect((await tenant.get(at(email, 'mine'))).body.data.active).toBe(true)
    // Saving an active script again keeps it active.
    expect(
      (await tenant.post(at(email), { name: 'mine', content: 'keep;' })).body.data.active,
    ).toBe(true)
    const { items, pagination } = (await tenant.get(at(email))).body.data
    expect(
      items.map(({ name, active, managed }: Record<string, unknown>) => [name, active, managed]),
    ).toEqual([
      ['mine', true, false],
      ['svc-blocked-senders', true, true],
      ['svc-forwarding', true, true],
      ['svc-main', true, true],
      ['svc-rules', true, true],
      ['svc-vacation', true, true],
    ])
    expect(pagination).toEqual({ page: 1, per_page: 50, total: 6, total_pages: 1 })
    expect((await tenant.get(`${at(email)}&per_page=2&page=2`)).body.data.items).toHaveLength(2)
    expect(await tenant.delete(at(email, 'mine'))).toMatchObject({
      status: 200,
      body: { msg: "Script 'mine' deleted" },
    })
    expect(scripts.scripts.has('mine')).toBe(false)
    expect(scripts.scripts.get('svc-main')).not.toContain('mine')
    for (const [method, path] of [
      ['GET', 'mine'],
      ['PUT', 'mine/activate'],
      ['DELETE', 'mine'],
    ] as const) {
      expect(await tenant.call(method, at(email, path))).toMatchObject({
        status: 404,
        body: { msg: "Script 'mine' not found" },
      })
    }
    const script = { script_name: 'mine', email }
    expect(await eventsOf(email)).toEqual([
      { ...about, event: 'filter.created', data: { ...script, active: false } },
      { ...about, event: 'filter.updated', data: { ...script, action: 'activated' } },
      { ...about, event: 'filter.created', data: { ...script, active: true } },
      { ...about, event: 'filter.deleted', data: script },
    ])
  })

  it('writes an operator audit row when a platform key saves a script', async () => {
    const { tenant, email } = await world.holder('audited')
    const platform = await world.app.key(tenant.organizationId, { scope: 'platform' })
    const body = { name: 'mine', content: 'keep;' }
    expect((await platform.post(at(email), body)).status).toBe(200)
    const rows = await world.app.core.db
      .selectFrom('operator_audit')
      .select(['action', 'result'])
      .where('action', '=', 'save_filter')
      .execute()
    expect(rows).toEqual([{ action: 'save_filter', result: 'success' }])
    expect(await eventsOf(email)).toHaveLength(1)
  })

  it('neither activates a script nor emits an event when the Sieve compiler rejects it', async () => {
    const { tenant, email, scripts } = await world.holder('refused')
    world.sieve.behaviour = 'compiler'
    expect(
      await tenant.post(at(email), { name: 'mine', content: 'x', active: true }),
    ).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining('line 3: error: unknown command') },
    })
    expect(scripts.active).toBeUndefined()
    expect(await eventsOf(email)).toEqual([])
  })

  it("runs one tenant script beside the holder's scripts, whichever side saves last", async () => {
    const jane = await world.holder('beside')
    const { tenant, email, scripts } = jane
    const included = () =>
      [...(scripts.scripts.get('svc-main') ?? '').matchAll(/"([\w-]+)";/g)].map(([, name]) => name)
    await jane.put(`${MAILBOX}/forwarding`, { enabled: true, addresses: ['a@b.test'] })
    await tenant.post(at(email), { name: 'one', content: 'keep;', active: true })
    await tenant.post(at(email), { name: 'two', content: 'keep;', active: true })
    await tenant.post(at(email, 'vacation'), { enabled: true, message: 'x' })
    const all = ['svc-blocked-senders', 'two', 'svc-rules', 'svc-forwarding', 'svc-vacation']
    expect(included()).toEqual(all)
    expect((await tenant.get(at(email, 'one'))).body.data.active).toBe(false)
    await jane.put(`${MAILBOX}/rules`, { rules: [] })
    expect(included()).toEqual(all)
    expect(scripts.active).toBe('svc-main')
    expect((await jane.get(`${MAILBOX}/forwarding`)).body.data.enabled).toBe(true)
  })

  it("requires replace: true to deactivate a script of the holder's mail client", async () => {
    const { tenant, email, scripts } = await world.holder('asked')
    scripts.scripts.set('roundcube', 'keep;')
    scripts.active = 'roundcube'
    const body = { name: 'mine', content: 'keep;', active: true }
    const refusal = {
      status: 409,
      body: { error_code: 'HOLDER_SCRIPT_ACTIVE', data: { active: 'roundcube' } },
    }
    expect(await tenant.post(at(email), body)).toMatchObject(refusal)
    expect(scripts.scripts.has('mine')).toBe(false)
    await tenant.post(at(email), { ...body, active: false })
    expect(await tenant.put(at(email, 'mine/activate'))).toMatchObject(refusal)
    expect(await tenant.post(at(email, 'vacation'), { enabled: true, message: 'x' })).toMatchObject(
      refusal,
    )
    expect(scripts.active).toBe('roundcube')
    expect((await tenant.put(at(email, 'mine/activate'), { replace: true })).status).toBe(200)
    expect(scripts.active).toBe('svc-main')
    expect(scripts.scripts.get('roundcube')).toBe('keep;')
  })

  it('lists the filter templates', async () => {
    const { tenant } = await world.holder('templates')
    const { items } = (await tenant.get(`${FILTERS}templates`)).body.data
    expect(items.map(({ id }: { id: string }) => id)).toEqual([
      'forward',
      'auto_reply',
      'move_subject',
      'move_sender',
      'reject_sender',
      'attachment_filter',
    ])
  })
})

describe('tenant vacation responder', () => {
  it.each([
    [{}, 422],
    [{ enabled: true }, 422],
    [{ enabled: true, message: ' ' }, 422],
    [{ enabled: true, message: 'x', start_date: 'soon' }, 422],
    [{ enabled: true, message: 'x', start_date: '2026-02-01', end_date: '2026-01-01' }, 422],
    [{ enabled: true, message: 'x', reply_interval: 0 }, 422],
  ])('rejects a vacation responder with %j', async (body, status) => {
    const { tenant, email, scripts } = await world.holder('unable')
    expect((await tenant.post(at(email, 'vacation'), body)).status).toBe(status)
    expect(scripts.scripts.size).toBe(0)
  })

  it('writes the vacation script, shows it on the mailbox and removes it when disabled', async () => {
    const { tenant, email, scripts } = await world.holder('shown')
    const account = async () =>
      (await tenant.get(`/api/v1/mailboxes/email-accounts/${tenant.accountId}`)).body.data
    const answer = await tenant.post(at(email, 'vacation'), {
      enabled: true,
      message: 'Closed "today"',
      subject: 'a"b\r\nBcc: c',
      start_date: '2026-12-24',
      end_date: '2026-12-26T23:00:00+02:00',
      reply_interval: 3 * 86_400 + 5,
      external_only: true,
    })
    expect(answer).toMatchObject({
      status: 200,
      body: { msg: 'Vacation responder enabled', data: { enabled: true } },
    })
    expect(scripts.scripts.get('svc-vacation')?.split('\r\n').slice(1)).toEqual([
      'require ["vacation", "date", "relational"];',
      'if allof (currentdate :zone "+0000" :value "ge" "date" "2026-12-24", currentdate :zone "+0000" :value "le" "date" "2026-12-26", not address :is :domain "from" "shown.test") {',
      '  vacation :days 3 :addresses "admin@shown.test" :subject "a\\"b Bcc: c" "Closed \\"today\\"";',
      '}',
      '',
    ])
    expect(await account()).toMatchObject({
      vacation_enabled: true,
      vacation_message: 'Closed "today"',
    })
    expect(await tenant.post(at(email, 'vacation'), { enabled: false })).toMatchObject({
      status: 200,
      body: { msg: 'Vacation responder disabled', data: { enabled: false } },
    })
    expect(scripts.scripts.get('svc-vacation')).toContain('# No replies.')
    expect(await account()).toMatchObject({ vacation_enabled: false, vacation_message: null })
  })

  it("is the holder's own responder: each side sees and replaces what the other set (B2.1)", async () => {
    const jane = await world.holder('gives')
    const { tenant, email, scripts } = jane
    const account = async () =>
      (await tenant.get(`/api/v1/mailboxes/email-accounts/${tenant.accountId}`)).body.data
    await tenant.post(at(email, 'vacation'), {
      enabled: true,
      message: 'of the tenant',
      start_date: '2026-12-24',
      external_only: true,
    })
    expect((await jane.get(`${MAILBOX}/vacation`)).body.data).toEqual({
      enabled: true,
      subject: 'Out of Office',
      message: 'of the tenant',
      start_date: '2026-12-24',
      end_date: null,
      managed: true,
    })
    await jane.put(`${MAILBOX}/vacation`, { enabled: true, message: 'own words' })
    expect(scripts.scripts.get('svc-vacation')).not.toContain('if allof')
    expect(await account()).toMatchObject({
      vacation_enabled: true,
      vacation_message: 'own words',
    })
    expect((await tenant.post(at(email, 'vacation'), { enabled: false })).status).toBe(200)
    expect((await jane.get(`${MAILBOX}/vacation`)).body.data.enabled).toBe(false)
    expect((await account()).vacation_enabled).toBe(false)
  })
})
