import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type App,
  type Client,
  clientOf,
  INTERNAL_TOKEN,
  PASSWORD,
  startApp,
} from '../../../test/support/app.ts'
import { countingOf } from './counters/counting.ts'

const BASE = '/api/v1/rate-limiter/rate-limits'
let app: App
let service: Client
let admin: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp({ limiting: true })
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
  admin = await app.operator('admin')
})
afterAll(() => app.stop())

/** Rules are cached; a change arrives with a notification of the database. */
const send = async (email: string) => {
  await countingOf(app.core).settled()
  const message = { email, recipient_count: 2, record: true }
  return (await service.post('/check_rate_limit', message)).body
}
const limitsAt = async (client: Pick<Client, 'get'>, path: string) =>
  (await client.get(`${BASE}/${path}`)).body.data.config

describe('rate_limits of a resource (B2.3)', () => {
  it('are the rule of an organization: an operator sets them, and they defer mail', async () => {
    const acme = await app.tenant('acme')
    const path = `organization/${acme.organizationId}`
    await admin.put(`/api/v1/organizations/${acme.organizationId}/quotas`, {
      rate_limits: { outbound_hourly: 3, inbound_daily: 9 },
    })
    expect(await limitsAt(acme, path)).toMatchObject({ hourly_limit: 3 })
    expect(await limitsAt(acme, `${path}?direction=inbound`)).toMatchObject({ daily_limit: 9 })
    expect(await send(acme.email)).toMatchObject({ allowed: true })
    expect(await send(acme.email)).toMatchObject({
      allowed: false,
      message: expect.stringContaining('the organization may pass 3 recipients'),
    })

    expect((await acme.post(`${BASE}/${path}`, { hourly_limit: 9 })).status).toBe(403)
    expect((await admin.post(`${BASE}/${path}`, { hourly_limit: 8 })).status).toBe(200)
    expect(await send(acme.email)).toMatchObject({ allowed: true })
    const { data } = (await acme.get(`/api/v1/organizations/${acme.organizationId}`)).body
    expect(data.rate_limits).toEqual({ outbound_hourly: 8, inbound_daily: 9 })
  })

  it('lower the limits of the operator for a domain and a mailbox, and cannot raise them', async () => {
    const globex = await app.tenant('globex')
    const domain = `/api/v1/domains/${globex.domainId}`
    expect((await globex.put(domain, { rate_limits: { hourly: 5 } })).status).toBe(200)
    expect(await limitsAt(globex, 'domain/globex.test')).toMatchObject({ hourly_limit: 5 })
    const account = `/api/v1/mailboxes/email-accounts/${globex.accountId}`
    await globex.put(account, { rate_limits: { outbound_hourly: 2 } })
    expect(await send(globex.email)).toMatchObject({ allowed: true })
    expect(await send(globex.email)).toMatchObject({
      allowed: false,
      message: expect.stringContaining('mailbox admin@globex.test may pass 2 recipients'),
    })
    expect(
      (await globex.put(account, { rate_limits: { outbound_hourly: 1_000_000 } })).status,
    ).toBe(422)
    // A write without a limit removes the tenant's own limit.
    await globex.put(account, { rate_limits: {} })
    expect(await send(globex.email)).toMatchObject({ allowed: true })
    expect(await send(globex.email)).toMatchObject({
      allowed: false,
      message: expect.stringContaining('domain globex.test may pass 5 recipients'),
    })
  })

  it('limit a new mailbox from the start', async () => {
    const initech = await app.tenant('initech')
    const email = 'new@initech.test'
    await initech.post('/api/v1/mailboxes/email-accounts', {
      email,
      password: PASSWORD,
      rate_limits: { outbound_daily: 1 },
    })
    expect(await send(email)).toMatchObject({ allowed: false })
  })

  it.each([
    [{ per_hour: 5 }, 'rate_limits.per_hour is not a limit; use names such as outbound_hourly'],
    [{ hourly: -1 }, 'rate_limits.hourly must be a whole number from 0 to 2147483647'],
  ])('is refused when it limits nothing: %j', async (rate_limits, problem) => {
    const hooli = await app.tenant(`hooli-${Object.keys(rate_limits)[0]?.replace('_', '-')}`)
    const paths = [
      `/api/v1/domains/${hooli.domainId}`,
      `/api/v1/mailboxes/email-accounts/${hooli.accountId}`,
    ]
    for (const path of paths) {
      expect(await hooli.put(path, { rate_limits })).toMatchObject({
        status: 400,
        body: { data: { errors: [problem] } },
      })
    }
  })

  it('are shown for a mailbox and its domain with their use in rate_usage_data (B2.7)', async () => {
    const pied = await app.tenant('pied')
    expect(await send(pied.email)).toMatchObject({ allowed: true })
    await countingOf(app.core).flush()
    const used = { outbound: { hourly_count: 2, daily_count: 2 } }
    const account = await pied.get(`/api/v1/mailboxes/email-accounts/${pied.accountId}`)
    expect(account.body.data.rate_usage_data).toMatchObject(used)
    const domain = await pied.get(`/api/v1/domains/${pied.domainId}`)
    expect(domain.body.data.rate_usage_data).toMatchObject(used)
  })
})
