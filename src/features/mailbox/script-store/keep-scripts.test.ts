import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PASSWORD } from '../../../../test/support/app.ts'
import { MAILBOX, startWithSieve } from '../../../../test/support/holders.ts'
import { waitFor } from '../../../../test/support/wait.ts'

const ACCOUNTS = '/api/v1/mailboxes/email-accounts'

let world: Awaited<ReturnType<typeof startWithSieve>>
beforeAll(async () => {
  world = await startWithSieve()
})
afterAll(() => world.stop())
beforeEach(() => {
  world.sieve.behaviour = 'normal'
})

const holder = async (name: string) => {
  const jane = await world.holder(name)
  return { ...jane, account: `${ACCOUNTS}/${jane.tenant.accountId}` }
}
/** Returns when no scripts are left to write. */
const written = () =>
  waitFor(async () => {
    const rows = await world.app.core.db
      .selectFrom('mailbox_scripts_pending')
      .select('email')
      .execute()
    return rows.length === 0
  })

describe('forwarding and vacation of an account (B2.1)', () => {
  it("are the holder's own settings, even when a tenant sets them", async () => {
    const { account, tenant, scripts, ...jane } = await holder('same')
    const sent = {
      forward_enabled: true,
      forward_destination: 'a@b.test, c@d.test',
      vacation_enabled: true,
      vacation_message: 'Gone\nfishing',
    }
    expect((await tenant.put(account, sent)).status).toBe(200)
    await written()
    expect((await jane.get(`${MAILBOX}/forwarding`)).body.data).toEqual({
      enabled: true,
      addresses: ['a@b.test', 'c@d.test'],
      keep_copy: true,
      managed: true,
      loses_signatures: false,
    })
    expect((await jane.get(`${MAILBOX}/vacation`)).body.data).toMatchObject({
      enabled: true,
      message: 'Gone\nfishing',
    })
    expect(scripts.active).toBe('svc-main')

    await jane.put(`${MAILBOX}/forwarding`, { enabled: true, addresses: ['e@f.test'] })
    await jane.put(`${MAILBOX}/vacation`, { enabled: false })
    expect((await tenant.get(account)).body.data).toMatchObject({
      forward_enabled: true,
      forward_destination: 'e@f.test',
      vacation_enabled: false,
    })
    await written()
    expect((await jane.get(`${MAILBOX}/forwarding`)).body.data.addresses).toEqual(['e@f.test'])
  })

  it('turn off a responder that POST /filters/vacation set', async () => {
    const { account, tenant, email, scripts } = await holder('off')
    const path = `/api/v1/filters/vacation?email=${email}`
    await tenant.post(path, { enabled: true, message: 'x', external_only: true })
    expect(scripts.scripts.get('svc-vacation')).toContain('vacation :days')
    await tenant.put(account, { vacation_enabled: false })
    await written()
    expect(scripts.scripts.get('svc-vacation')).toContain('# No replies.')
  })

  it('are written for a new account as soon as the mail server answers', async () => {
    const { tenant } = await holder('later')
    world.sieve.behaviour = 'hang-up'
    const email = `new@${tenant.domain}`
    const made = await tenant.post(ACCOUNTS, {
      email,
      password: PASSWORD,
      forward_enabled: true,
      forward_destination: 'a@b.test',
    })
    expect(made.status).toBe(201)
    world.sieve.behaviour = 'normal'
    await written()
    expect(world.sieve.of(email).scripts.get('svc-forwarding')).toContain('redirect')
    expect(world.sieve.of(email).active).toBe('svc-main')
  })

  it('leave a script of another mail program active when they are turned off', async () => {
    const { account, tenant, scripts } = await holder('foreign')
    await tenant.put(account, { forward_enabled: true, forward_destination: 'a@b.test' })
    await written()
    scripts.scripts.set('roundcube', 'keep;')
    scripts.active = 'roundcube'
    await tenant.put(account, { forward_enabled: false })
    await written()
    expect(scripts.active).toBe('roundcube')
    expect(scripts.scripts.get('svc-forwarding')).toContain('# Nothing is forwarded.')
  })

  it.each([
    [{ forward_enabled: true }, 'forward_destination is required when forward_enabled is true'],
    [{ vacation_enabled: true }, 'vacation_message is required when vacation_enabled is true'],
    [
      { forward_destination: 'admin@unable.test' },
      'forward_destination must not contain the address of the mailbox itself',
    ],
    [
      { forward_destination: ['a', 'b', 'c', 'd', 'e', 'f'].map((one) => `${one}@b.test`).join() },
      'forward_destination may hold at most 5 addresses',
    ],
  ])('are rejected when they cannot act: %j', async (body, problem) => {
    const { account, tenant } = await holder('unable')
    expect(await tenant.put(account, body)).toMatchObject({
      status: 400,
      body: { data: { errors: [problem] } },
    })
  })
})

describe('the automatic reply of a shared mailbox (B2.2)', () => {
  it('is written into its script, changed and turned off', async () => {
    const { tenant } = await holder('team')
    const email = `desk@${tenant.domain}`
    const sent = { email, name: 'Desk', auto_reply_enabled: true }
    const shared = '/api/v1/shared-mailboxes'
    expect((await tenant.post(shared, sent)).status).toBe(422)
    const made = await tenant.post(shared, { ...sent, auto_reply_message: 'We will answer' })
    expect(made.status).toBe(201)
    await written()
    const script = () => world.sieve.of(email).scripts.get('svc-vacation')
    expect(script()).toContain('"We will answer";')
    const path = `${shared}/${made.body.data.id}`
    expect(await tenant.put(path, { auto_reply_message: 'Tomorrow' })).toMatchObject({
      status: 200,
      body: { data: { auto_reply_enabled: true, auto_reply_message: 'Tomorrow', name: 'Desk' } },
    })
    await written()
    expect(script()).toContain('"Tomorrow";')
    expect((await tenant.put(path, { auto_reply_message: null })).status).toBe(422)
    await tenant.put(path, { auto_reply_enabled: false })
    await written()
    expect(script()).toContain('# No replies.')
    const events = await world.app.core.db
      .selectFrom('events')
      .select(['data'])
      .where('event', '=', 'shared_mailbox.updated')
      .execute()
    expect(events.map(({ data }) => (data as { updated_fields: string[] }).updated_fields)).toEqual(
      [['auto_reply_message'], ['auto_reply_enabled']],
    )
  })
})
