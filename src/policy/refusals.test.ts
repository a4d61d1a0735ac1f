import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { endOfMessage, policyClient } from '../../test/support/policy.ts'
import { lift, type NewSuppression, suppress } from '../hosting/suppressions.repository.ts'
import { DAY_MS } from '../lib/time.ts'
import { ulid } from '../lib/ulid.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
let access: ReturnType<typeof policyClient>
let rate: ReturnType<typeof policyClient>
beforeAll(async () => {
  app = await startApp({ limiting: true })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  for (const tenant of [acme, globex]) {
    const username = tenant.domain.replace('.test', '-app')
    await tenant.post('/api/v1/smtp-credentials/', { domain_id: tenant.domainId, username })
  }
  access = policyClient(app.limiter.policy.ports.access as number)
  rate = policyClient(app.limiter.policy.ports.rate as number)
})
afterAll(async () => {
  access.close()
  rate.close()
  await app.stop()
})

const RCPT = { protocol_state: 'RCPT', client_address: '127.0.0.1', recipient_count: 0 }
const sendsTo = (login: string, recipient: string) =>
  access.ask(endOfMessage(login, { ...RCPT, recipient }))
const comesTo = (recipient: string, sender: string) =>
  access.ask({ ...RCPT, recipient, sender, sasl_username: '', policy_context: 'mx' })
const internally = (sender: string, recipient: string) =>
  access.ask({ ...RCPT, recipient, sender, sasl_username: '', policy_context: 'internal' })

const row = (email: string, organization_id = acme.organizationId): NewSuppression => ({
  email,
  organization_id,
  reason: null,
  source: null,
})
const change = (work: Parameters<ReturnType<App['core']['db']['transaction']>['execute']>[0]) =>
  app.core.db
    .transaction()
    .execute(work)
    .then(() => app.limiter.settled())
const suppressAll = (type: Parameters<typeof suppress>[1], rows: NewSuppression[]) =>
  change((tx) => suppress(tx, type, rows, app.clock.now()))
const liftOne = (email: string) =>
  change((tx) => lift(tx, email, acme.organizationId, app.clock.now()))

describe('a suppressed recipient', () => {
  it('is rejected with the reason, and accepted again as soon as the suppression is lifted', async () => {
    expect(await sendsTo('acme-app', 'gone@elsewhere.test')).toBe('DUNNO')
    await suppressAll('BOUNCE', [row('gone@elsewhere.test')])
    expect(await sendsTo('acme-app', 'Gone@Elsewhere.test')).toBe(
      'REJECT 5.7.1 the address is suppressed: mail to it has bounced (login acme-app)',
    )
    expect(await sendsTo('acme-app', 'other@elsewhere.test')).toBe('DUNNO')
    await liftOne('gone@elsewhere.test')
    expect(await sendsTo('acme-app', 'gone@elsewhere.test')).toBe('DUNNO')
  })

  it('is rejected only for the organization that suppressed it', async () => {
    await suppressAll('UNSUBSCRIBE', [row('left@elsewhere.test')])
    expect(await sendsTo('acme-app', 'left@elsewhere.test')).toMatch(/^REJECT 5\.7\.1 .*unsubscr/)
    expect(await sendsTo('globex-app', 'left@elsewhere.test')).toBe('DUNNO')
  })

  it('is accepted again when the suppression has expired', async () => {
    await suppressAll('COMPLAINT', [row('angry@elsewhere.test')])
    expect(await sendsTo('acme-app', 'angry@elsewhere.test')).toMatch(/^REJECT .*complained/)
    app.clock.advance(31 * DAY_MS)
    expect(await sendsTo('acme-app', 'angry@elsewhere.test')).toBe('DUNNO')
  })

  it('is rejected at once after a bulk suppression of 3000 addresses', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => row(`list-${n}@elsewhere.test`))
    expect(await sendsTo('acme-app', 'list-2999@elsewhere.test')).toBe('DUNNO')
    await suppressAll('MANUAL', many)
    expect(await sendsTo('acme-app', 'list-2999@elsewhere.test')).toMatch(/^REJECT 5\.7\.1/)
  })

  it('is looked up in the database once and then cached', async () => {
    await sendsTo('acme-app', 'often@elsewhere.test')
    // Without triggers the cache gets no notification.
    const { organizationId } = acme
    await app.core.db.transaction().execute(async (tx) => {
      await sql`alter table suppressions disable trigger all`.execute(tx)
      await suppress(tx, 'MANUAL', [row('often@elsewhere.test', organizationId)], app.clock.now())
      await sql`alter table suppressions enable trigger all`.execute(tx)
    })
    expect(await sendsTo('acme-app', 'often@elsewhere.test')).toBe('DUNNO')
  })

  it('B4.8: can be written to by a person unless it was suppressed by hand', async () => {
    const to = 'customer@elsewhere.test'
    for (const type of ['UNSUBSCRIBE', 'COMPLAINT', 'BOUNCE'] as const) {
      await suppressAll(type, [row(to)])
      expect(await sendsTo(acme.email, to)).toBe('DUNNO')
      expect(await internally(acme.email, to)).toBe('DUNNO')
      expect(await sendsTo('acme-app', to)).toMatch(/^REJECT 5\.7\.1 /)
    }
    await suppressAll('MANUAL', [row(to)])
    expect(await sendsTo(acme.email, to)).toMatch(/^REJECT 5\.7\.1 .*entered it/)
    await liftOne(to)
    expect(await sendsTo('acme-app', to)).toBe('DUNNO')
  })
})

describe('a blocked sender', () => {
  const block = (sender: string) =>
    app.core.db
      .insertInto('blocked_senders')
      .values({
        id: ulid(),
        organization_id: acme.organizationId,
        sender,
        reason: 'spam',
        created_by: 'test',
      })
      .execute()
      .then(() => app.limiter.settled())

  it('is rejected only for the blocking organization, until the block is deleted', async () => {
    expect(await comesTo(acme.email, 'pest@elsewhere.test')).toBe('DUNNO')
    await block('pest@elsewhere.test')
    expect(await comesTo(acme.email, 'Pest@elsewhere.test')).toMatch(/^REJECT 5\.7\.1 /)
    expect(await comesTo(globex.email, 'pest@elsewhere.test')).toBe('DUNNO')
    await app.core.db.deleteFrom('blocked_senders').execute()
    await app.limiter.settled()
    expect(await comesTo(acme.email, 'pest@elsewhere.test')).toBe('DUNNO')
  })

  it('is never the empty sender or an authenticated one', async () => {
    await block('')
    await block(acme.email)
    expect(await comesTo(acme.email, '')).toBe('DUNNO')
    expect(await sendsTo(acme.email, acme.email)).toBe('DUNNO')
  })
})

describe('internal services', () => {
  it('can send only as hosted addresses, and not to suppressed recipients', async () => {
    await suppressAll('MANUAL', [row('enough@elsewhere.test')])
    expect(await internally(`alias@${acme.domain}`, 'friend@elsewhere.test')).toBe('DUNNO')
    expect(await internally(`alias@${acme.domain}`, 'enough@elsewhere.test')).toMatch(/^REJECT 5/)
    expect(await internally('me@elsewhere.test', 'friend@elsewhere.test')).toMatch(
      /^REJECT 5\.7\.1 .*hosted here/,
    )
    expect(await internally('', 'friend@elsewhere.test')).toMatch(/^REJECT 5\.7\.1/)
  })

  it('count for the domain they send for', async () => {
    const sent = async () => {
      const { body } = await acme.get(`/api/v1/rate-limiter/rate-limits/domain/${acme.domain}`)
      return body.data.usage.hourly_count as number
    }
    const before = await sent()
    const end = endOfMessage('', { sender: `alias@${acme.domain}`, policy_context: 'internal' })
    expect(await rate.ask(end)).toBe('DUNNO')
    expect(await sent()).toBe(before + 1)
  })
})
