import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, type Client, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { type AppWithDns, startAppWithDns } from '../../../../test/support/app-with-dns.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { endClaims, lookForOwnership } from './ownership.jobs.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

let app: App
let dns: AppWithDns['dns']
let stop: AppWithDns['stop']
let acme: Tenant
let globex: Tenant
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  ;({ app, dns, stop } = await startAppWithDns({ SVC_MAIL_HOSTNAME: 'mx.host.example' }))
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  operator = await app.operator('operator')
})
afterAll(() => stop())
beforeEach(() => dns.reset())

const claim = (tenant: Client, domain: string, more: object = {}) =>
  tenant.post('/api/v1/domains/', { domain, dkim_enabled: false, ...more })
const claimed = async (tenant: Client, domain: string, more: object = {}) => {
  const answer = await claim(tenant, domain, more)
  expect(answer.status).toBe(201)
  return answer.body.data
}
const stored = async (id: string, tenant: Client = operator) =>
  (await tenant.get(`/api/v1/domains/${id}`)).body.data
const recordOf = ({ domain, dns_records }: { domain: string; dns_records: { name: string }[] }) =>
  dns_records.find(({ name }) => name === `_mailplane.${domain}`) as { name: string; value: string }
const publish = (made: Parameters<typeof recordOf>[0]) => {
  const { name, value } = recordOf(made)
  dns.state.records[name] = { TXT: ['unrelated', value] }
}
const verifyDns = async (tenant: Client, id: string) =>
  (await tenant.get(`/api/v1/domains/${id}/verify-dns`)).body.data
const vouch = (id: string, by: Client = operator, body: object = { reason: 'contract 17' }) =>
  by.post(`/api/v1/domains/${id}/verify-ownership`, body)
const mailbox = (tenant: Client, email: string) =>
  tenant.post('/api/v1/mailboxes/email-accounts', { email, password: PASSWORD })
const eventsOf = (name: string, organizationId: string) =>
  app.core.db
    .selectFrom('events')
    .select('data')
    .where('event', '=', name)
    .where('org_id', '=', organizationId)
    .orderBy('id')
    .execute()

describe('a new domain', () => {
  it('is pending, and lists the TXT record with the token of its organization', async () => {
    const one = await claimed(acme, 'pending-1.example')
    const two = await claimed(acme, 'pending-2.example')
    const other = await claimed(globex, 'pending-3.example')
    expect(one.ownership_verified_at).toBeNull()
    expect(recordOf(one)).toMatchObject({
      type: 'TXT',
      value: expect.stringMatching(/^mailplane-verification=[0-9a-f]{32}$/),
    })
    expect(recordOf(two).value).toBe(recordOf(one).value)
    expect(recordOf(other).value).not.toBe(recordOf(one).value)
  })

  it('is proven by verify-dns when the record is found, and stays proven without it', async () => {
    const made = await claimed(acme, 'proving.example')
    const before = await verifyDns(acme, made.id)
    expect(before).toMatchObject({ ownership_verified_at: null, verified: false })
    expect(before.verification.ownership).toMatchObject({
      status: 'fail',
      name: '_mailplane.proving.example',
      expected: recordOf(made).value,
      message: expect.stringContaining('Publish a TXT record'),
    })
    publish(made)
    const found = await verifyDns(acme, made.id)
    expect(found).toMatchObject({
      ownership_verified_at: expect.any(String),
      verified: false,
      verified_at: null,
      verification: { ownership: { status: 'pass' } },
    })
    dns.state.records = {}
    expect((await verifyDns(acme, made.id)).verification.ownership.status).toBe('pass')
    expect(await eventsOf('domain.ownership_verified', acme.organizationId)).toContainEqual({
      data: expect.objectContaining({ domain: 'proving.example', method: 'dns' }),
    })
  })

  it('is not proven by the token of another organization or while DNS is silent', async () => {
    const made = await claimed(acme, 'foreign-token.example')
    const other = await claimed(globex, 'foreign-token.example')
    dns.state.records['_mailplane.foreign-token.example'] = { TXT: [recordOf(other).value] }
    expect((await verifyDns(acme, made.id)).ownership_verified_at).toBeNull()
    dns.state.silent = true
    const silent = await verifyDns(globex, other.id)
    expect(silent.ownership_verified_at).toBeNull()
    expect(silent.verification.ownership.message).toMatch(/DNS did not answer/)
  })

  it('is neither verified nor proven by the four records without DKIM (S2)', async () => {
    const made = await claimed(globex, 'victim.example', { dkim_enabled: false })
    Object.assign(dns.state.records, {
      'mx.host.example': { A: ['192.0.2.25'] },
      'spf.mx.host.example': { TXT: ['v=spf1 ip4:192.0.2.25 -all'] },
      'victim.example': {
        MX: ['mx.host.example'],
        TXT: ['v=spf1 include:spf.mx.host.example ~all'],
      },
      '_dmarc.victim.example': { TXT: ['v=DMARC1; p=reject'] },
    })
    const result = await verifyDns(globex, made.id)
    const { mx, spf, dkim, dmarc } = result.verification
    expect([mx, spf, dkim, dmarc].map(({ status }) => status)).toEqual(Array(4).fill('pass'))
    expect(result).toMatchObject({
      verified: false,
      verified_at: null,
      ownership_verified_at: null,
    })
    publish(made)
    const proven = await verifyDns(globex, made.id)
    expect(proven).toMatchObject({ verified: true, verified_at: expect.any(String) })
  })

  it('is proven by the job that looks again while the claim is pending', async () => {
    const made = await claimed(acme, 'found-later.example')
    await lookForOwnership.run(app.core)
    expect((await stored(made.id)).ownership_verified_at).toBeNull()
    publish(made)
    app.clock.advance(6 * 60_000)
    await lookForOwnership.run(app.core)
    expect((await stored(made.id)).ownership_verified_at).not.toBeNull()
  })
})

describe('a name (S1)', () => {
  it('is never given when it is the host, its parent or its child', async () => {
    for (const name of ['mx.host.example', 'host.example', 'spf.mx.host.example']) {
      expect(await claim(acme, name)).toMatchObject({
        status: 409,
        body: { error_code: 'DOMAIN_RESERVED' },
      })
    }
    expect((await claim(acme, 'other.host.example')).status).toBe(201)
  })

  it('is never given when it is a public suffix', async () => {
    for (const name of ['co.uk', 'github.io', 'example']) {
      expect((await claim(acme, name)).status).toBe(400)
    }
  })

  it('can be claimed by several organizations, and goes to the first that proves it', async () => {
    const one = await claimed(acme, 'wanted.example')
    const two = await claimed(globex, 'wanted.example')
    for (const tenant of [acme, globex]) {
      expect((await mailbox(tenant, 'info@wanted.example')).status).toBe(201)
      const alias = { source: 'all@wanted.example', destination: 'info@wanted.example' }
      expect((await tenant.post('/api/v1/aliases/add', alias)).status).toBe(200)
    }
    expect(await mailbox(acme, 'info@wanted.example')).toMatchObject({ status: 409 })
    publish(two)
    expect((await verifyDns(globex, two.id)).ownership_verified_at).not.toBeNull()

    expect((await acme.get(`/api/v1/domains/${one.id}`)).status).toBe(404)
    expect(await eventsOf('domain.claim_ended', acme.organizationId)).toContainEqual({
      data: expect.objectContaining({
        domain: 'wanted.example',
        reason: 'proven_by_other',
        mailboxes_deleted: 1,
        aliases_deleted: 1,
      }),
    })
    expect((await stored(two.id, globex)).email_accounts).toHaveLength(1)
  })

  it('is refused with 409 once proven, and with existing_id only for its owner', async () => {
    const made = await app.hostedDomain(acme, { domain: 'taken.example' })
    const own = await claim(acme, 'taken.example')
    const foreign = await claim(globex, 'taken.example')
    expect(own).toMatchObject({
      status: 409,
      body: { error_code: 'DOMAIN_ALREADY_CLAIMED', data: { existing_id: made.id } },
    })
    expect(foreign).toMatchObject({ status: 409, body: { error_code: 'DOMAIN_ALREADY_CLAIMED' } })
    expect(foreign.text).not.toContain(made.id)
  })

  it('is refused with existing_id when the own organization claims it already', async () => {
    const made = await claimed(acme, 'twice.example')
    expect(await claim(acme, 'twice.example')).toMatchObject({
      status: 409,
      body: { error_code: 'DOMAIN_ALREADY_CLAIMED', data: { existing_id: made.id } },
    })
  })

  it('is proven for exactly one organization by concurrent proofs', async () => {
    const one = await claimed(acme, 'race.example')
    const two = await claimed(globex, 'race.example')
    const answers = await Promise.all([vouch(one.id), vouch(two.id)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    const rows = await app.core.db
      .selectFrom('domains')
      .select('ownership_verified_at')
      .where('domain', '=', 'race.example')
      .execute()
    expect(rows).toEqual([{ ownership_verified_at: expect.any(String) }])
  })

  it('needs the approval of an operator for a child or a parent of a foreign name', async () => {
    await app.hostedDomain(acme, { domain: 'group.example' })
    await app.hostedDomain(acme, { domain: 'deep.corp.example' })
    await app.operator('support', 'alerts@alerts-of-ops.example')
    for (const name of ['shop.group.example', 'corp.example', 'alerts-of-ops.example']) {
      const made = await claimed(globex, name)
      publish(made)
      const seen = await verifyDns(globex, made.id)
      expect(seen.ownership_verified_at).toBeNull()
      expect(seen.verification.ownership).toMatchObject({
        status: 'fail',
        message: expect.stringContaining('operator'),
      })
      await lookForOwnership.run(app.core)
      expect((await stored(made.id)).ownership_verified_at).toBeNull()
      expect((await vouch(made.id)).status).toBe(200)
    }
    const own = await claimed(acme, 'shop2.group.example')
    publish(own)
    expect((await verifyDns(acme, own.id)).ownership_verified_at).not.toBeNull()
  })
})

describe('the approval of an operator', () => {
  it('proves a claim, with a reason that is in the audit trail', async () => {
    const made = await claimed(acme, 'vouched.example')
    expect(await vouch(made.id, operator, {})).toMatchObject({ status: 422 })
    const answer = await vouch(made.id)
    expect(answer.body.data).toMatchObject({
      id: made.id,
      ownership_verified_at: expect.any(String),
    })
    const again = await vouch(made.id)
    expect(again.body.data.ownership_verified_at).toBe(answer.body.data.ownership_verified_at)
    const rows = await app.core.db
      .selectFrom('operator_audit')
      .select(['operator_id', 'request_body', 'result'])
      .where('action', '=', 'verify_domain_ownership')
      .where('target_id', '=', made.id)
      .where('result', '=', 'success')
      .execute()
    expect(rows[0]).toMatchObject({
      operator_id: operator.id,
      request_body: { reason: 'contract 17' },
    })
  })

  it('is refused to support and to tenants', async () => {
    const made = await claimed(acme, 'unvouched.example')
    expect((await vouch(made.id, await app.operator('support'))).status).toBe(403)
    expect((await vouch(made.id, acme)).status).toBe(403)
    expect((await vouch('missing')).status).toBe(404)
    expect((await stored(made.id)).ownership_verified_at).toBeNull()
  })
})

describe('a pending claim', () => {
  it('lapses after 7 days, with a warning before', async () => {
    const made = await claimed(acme, 'forgotten.example')
    await mailbox(acme, 'ann@forgotten.example')
    app.clock.advance(5 * DAY_MS + 60_000)
    await endClaims.run(app.core)
    await endClaims.run(app.core)
    const warnings = await eventsOf('domain.claim_expiring', acme.organizationId)
    const own = warnings.filter(({ data }) => (data as { domain_id: string }).domain_id === made.id)
    expect(own).toEqual([{ data: expect.objectContaining({ expires_at: expect.any(String) }) }])
    app.clock.advance(DAY_MS)
    await endClaims.run(app.core)
    expect((await acme.get(`/api/v1/domains/${made.id}`)).status).toBe(200)
    app.clock.advance(DAY_MS)
    await endClaims.run(app.core)
    expect((await acme.get(`/api/v1/domains/${made.id}`)).status).toBe(404)
    expect(await eventsOf('domain.claim_ended', acme.organizationId)).toContainEqual({
      data: expect.objectContaining({
        domain_id: made.id,
        reason: 'lapsed',
        mailboxes_deleted: 1,
      }),
    })
  })

  it('does not lapse without a warning when the host was stopped', async () => {
    const made = await claimed(acme, 'away.example')
    app.clock.advance(30 * DAY_MS)
    await endClaims.run(app.core)
    expect((await acme.get(`/api/v1/domains/${made.id}`)).status).toBe(200)
    app.clock.advance(DAY_MS)
    await endClaims.run(app.core)
    expect((await acme.get(`/api/v1/domains/${made.id}`)).status).toBe(404)
  })

  it('gives its mailboxes no session until it is proven, without a restart', async () => {
    const made = await claimed(acme, 'prepared.example')
    const account = (await mailbox(acme, 'ann@prepared.example')).body.data
    const holder = await app.session('mailbox', account.id)
    const session = () => holder.get('/api/v1/mailbox/capabilities')
    expect((await session()).status).toBe(401)
    await app.prove(made.id)
    expect((await session()).status).toBe(200)
  })
})

describe('an external_id (S20)', () => {
  it('is unique for domains and mailboxes within an organization only', async () => {
    const external_id = 'crm-77'
    expect((await claim(acme, 'ext-1.example', { external_id })).status).toBe(201)
    expect((await claim(acme, 'ext-2.example', { external_id })).status).toBe(409)
    expect((await claim(globex, 'ext-3.example', { external_id })).status).toBe(201)
    const add = (tenant: Tenant) =>
      tenant.post('/api/v1/mailboxes/email-accounts', {
        email: `ext@${tenant.domain}`,
        password: PASSWORD,
        external_id,
      })
    expect((await add(acme)).status).toBe(201)
    expect((await add(globex)).status).toBe(201)
  })

  it('is set for an organization by operators only', async () => {
    const path = `/api/v1/organizations/${acme.organizationId}`
    expect(await acme.put(path, { external_id: 'mine' })).toMatchObject({ status: 422 })
    const owner = await app.operator('owner')
    expect((await owner.put(path, { external_id: 'theirs' })).status).toBe(200)
    // A client may send back what it read.
    expect((await acme.put(path, { external_id: 'theirs', name: 'Acme' })).status).toBe(200)
  })
})

describe('SVC_DOMAIN_OWNERSHIP=off', () => {
  it('gives every name but those of the host without proof', async () => {
    const off = await startApp({ env: { SVC_DOMAIN_OWNERSHIP: 'off' } })
    try {
      const tenant = await off.tenant('single')
      const made = await tenant.post('/api/v1/domains/', { domain: 'lab.example' })
      expect(made.body.data.ownership_verified_at).toEqual(expect.any(String))
      expect((await tenant.post('/api/v1/domains/', { domain: 'a.mail.localhost' })).status).toBe(
        409,
      )
    } finally {
      await off.stop()
    }
  })
})
