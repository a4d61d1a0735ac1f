import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { endOfMessage, policyClient } from '../../test/support/policy.ts'
import {
  lift,
  type NewSuppression,
  suppress,
} from '../features/suppressions/suppressions.repository.ts'
import { ulid } from '../lib/ulid.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
let access: ReturnType<typeof policyClient>
let rate: ReturnType<typeof policyClient>
beforeAll(async () => {
  app = await startApp({ limiting: true })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
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
  it('is refused at once, with the reason, and taken again at once', async () => {
    expect(await sendsTo(acme.email, 'gone@elsewhere.test')).toBe('DUNNO')
    await suppressAll('BOUNCE', [row('gone@elsewhere.test')])
    expect(await sendsTo(acme.email, 'Gone@Elsewhere.test')).toBe(
      'REJECT 5.7.1 the address is suppressed: mail to it has bounced',
    )
    expect(await sendsTo(acme.email, 'other@elsewhere.test')).toBe('DUNNO')
    await liftOne('gone@elsewhere.test')
    expect(await sendsTo(acme.email, 'gone@elsewhere.test')).toBe('DUNNO')
  })

  it('is refused for its organization alone', async () => {
    await suppressAll('UNSUBSCRIBE', [row('left@elsewhere.test')])
    expect(await sendsTo(acme.email, 'left@elsewhere.test')).toMatch(/^REJECT 5\.7\.1 .*unsubscr/)
    expect(await sendsTo(globex.email, 'left@elsewhere.test')).toBe('DUNNO')
  })

  it('is taken again when its term is over', async () => {
    await suppressAll('COMPLAINT', [row('angry@elsewhere.test')])
    expect(await sendsTo(acme.email, 'angry@elsewhere.test')).toMatch(/^REJECT .*complained/)
    app.clock.advance(31 * DAY_MS)
    expect(await sendsTo(acme.email, 'angry@elsewhere.test')).toBe('DUNNO')
  })

  it('is known as soon as thousands were entered at once', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => row(`list-${n}@elsewhere.test`))
    expect(await sendsTo(acme.email, 'list-2999@elsewhere.test')).toBe('DUNNO')
    await suppressAll('MANUAL', many)
    expect(await sendsTo(acme.email, 'list-2999@elsewhere.test')).toMatch(/^REJECT 5\.7\.1/)
  })

  it('is asked of the database once, not with every message', async () => {
    await sendsTo(acme.email, 'often@elsewhere.test')
    // Behind the back of the triggers, nobody hears of it.
    const { organizationId } = acme
    await app.core.db.transaction().execute(async (tx) => {
      await sql`alter table suppressions disable trigger all`.execute(tx)
      await suppress(tx, 'MANUAL', [row('often@elsewhere.test', organizationId)], app.clock.now())
      await sql`alter table suppressions enable trigger all`.execute(tx)
    })
    expect(await sendsTo(acme.email, 'often@elsewhere.test')).toBe('DUNNO')
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

  it('is refused by its organization alone, at once, and taken again at once', async () => {
    expect(await comesTo(acme.email, 'pest@elsewhere.test')).toBe('DUNNO')
    await block('pest@elsewhere.test')
    expect(await comesTo(acme.email, 'Pest@elsewhere.test')).toMatch(/^REJECT 5\.7\.1 /)
    expect(await comesTo(globex.email, 'pest@elsewhere.test')).toBe('DUNNO')
    await app.core.db.deleteFrom('blocked_senders').execute()
    await app.limiter.settled()
    expect(await comesTo(acme.email, 'pest@elsewhere.test')).toBe('DUNNO')
  })

  it('never is the empty one, nor somebody who has logged in', async () => {
    await block('')
    await block(acme.email)
    expect(await comesTo(acme.email, '')).toBe('DUNNO')
    expect(await sendsTo(acme.email, acme.email)).toBe('DUNNO')
  })
})

describe('services of the installation', () => {
  it('send for hosted addresses alone, and not to suppressed ones', async () => {
    await suppressAll('MANUAL', [row('enough@elsewhere.test')])
    expect(await internally(`alias@${acme.domain}`, 'friend@elsewhere.test')).toBe('DUNNO')
    expect(await internally(`alias@${acme.domain}`, 'enough@elsewhere.test')).toMatch(/^REJECT 5/)
    expect(await internally('me@elsewhere.test', 'friend@elsewhere.test')).toMatch(
      /^REJECT 5\.7\.1 .*hosted here/,
    )
    expect(await internally('', 'friend@elsewhere.test')).toMatch(/^REJECT 5\.7\.1/)
  })

  it('are counted as those they send for', async () => {
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
