import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

const refusal = (...names: string[]) => ({
  status: 422,
  body: {
    msg: `Nothing was changed: ${names.join(', ')} cannot be changed here`,
    detail: names.map((name) => ({ loc: ['body', name], type: 'read_only' })),
  },
})

describe('a change of fields that the caller cannot set (B2.12)', () => {
  it('is rejected for a mailbox or a domain, with the names of the fields', async () => {
    const account = `/api/v1/mailboxes/email-accounts/${acme.accountId}`
    expect(await acme.put(account, { email: 'other@acme.test', storage_used: 1 })).toMatchObject(
      refusal('email', 'storage_used'),
    )
    const domain = `/api/v1/domains/${acme.domainId}`
    expect(await acme.put(domain, { domain: 'other.test' })).toMatchObject(refusal('domain'))
  })

  it('is rejected for an organization by a tenant, and made by an operator', async () => {
    const path = `/api/v1/organizations/${acme.organizationId}`
    expect(
      await acme.put(path, { active: true, storage_quotas: { storage_quota_mb: 1 } }),
    ).toMatchObject(refusal('active', 'storage_quotas'))
    const admin = await app.operator('admin')
    expect((await admin.put(path, { sending_profile: 'both' })).status).toBe(200)
  })

  it('is ignored beside a field that can be set, like an unknown field', async () => {
    const path = `/api/v1/mailboxes/email-accounts/${acme.accountId}`
    const answer = await acme.put(path, { name: 'Jane', email: 'other@acme.test' })
    expect(answer).toMatchObject({ status: 200, body: { data: { name: 'Jane' } } })
    expect(answer.body.data.email).toBe(acme.email)
    expect((await acme.put(path, { unheard_of: 1 })).status).toBe(200)
  })

  it('is rejected for a DKIM selector without its key (B2.11)', async () => {
    const path = `/api/v1/domains/${acme.domainId}`
    expect((await acme.put(path, { dkim_selector: 'default' })).status).toBe(200)
    expect(await acme.put(path, { dkim_selector: 'other' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'dkim_selector'] }] },
    })
    expect((await acme.get(path)).body.data.dkim_selector).toBe('default')
  })
})
