import { expect } from 'vitest'
import { purgeDeletedMailboxes } from '../../../src/features/mailboxes/deleted/purge-deleted.ts'
import { waitFor } from '../wait.ts'
import { DOMAINS, JANE, LEA, ME, type Year } from './world.ts'

/** Number of times that each action of the operators succeeded in the year. */
const AUDITED = {
  create_organization: 2,
  update_organization: 2,
  delete_organization: 1,
  create_api_key: 2,
  rescue_operator: 1,
  reset_email_account_two_factor: 1,
  block_failed_auth_ip: 1,
  request_data_erasure: 1,
  create_legal_hold: 1,
  restore_kept_mail: 1,
  release_legal_hold: 1,
  set_retention_policy: 2,
  cancel_retention_policy: 1,
  delete_retention_policy: 1,
  renew_certificate: 1,
}

/** A tenant leaves, and its name and mail do not stay with its successor. */
export async function november(year: Year) {
  await year.on(11)
  const { acme, globex } = year.story.tenants
  const { host } = year
  const root = year.root()
  await year.deliver(LEA, 'the plan', 'globex-business-secret')
  const organization = '/api/v1/organizations/globex'
  expect((await root.delete(organization)).status).toBe(400)
  const [removed] = (await globex.post(`${DOMAINS}/delete/domain`, [globex.domain])).body.data
  expect(removed).toMatchObject({ status: 'success' })
  expect((await root.delete(organization)).status).toBe(200)
  expect((await globex.get(ME)).status).toBe(401)
  expect((await globex.dashboard()).login.status).toBe(401)
  expect(await host.authCode(year.story.logins.crm.username, year.story.logins.crm.secret)).toBe(
    535,
  )
  expect(await year.canRead(LEA)).toBe(false)
  expect((await host.receive(LEA, 'nobody home')).code).toBe(554)

  const claim = await acme.post(`${DOMAINS}/`, { domain: globex.domain })
  expect(claim.status, claim.text).toBe(201)
  // The record of the former tenant does not prove the new claim.
  const check = `${DOMAINS}/${claim.body.data.id}/verify-dns`
  expect((await acme.get(check)).body.data.ownership_verified_at).toBeNull()
  year.publish(claim.body.data)
  expect((await acme.get(check)).body.data.ownership_verified_at).not.toBeNull()
  await year.mailbox(acme, LEA)
  expect(await year.subjects(LEA)).toEqual([])
  await year.deliver(LEA, 'for the successor')
  expect(await year.subjects(LEA)).toEqual(['for the successor'])

  await year.on(11, 29)
  await purgeDeletedMailboxes.run(year.app.core)
  expect(year.onDisk('globex-business-secret')).not.toEqual([])
  await year.on(12, 5)
  await waitFor(async () => {
    await purgeDeletedMailboxes.run(year.app.core)
    return year.onDisk('globex-business-secret').length === 0
  })
  expect(await year.subjects(LEA)).toEqual(['for the successor'])
  expect(await year.subjects(JANE)).toContain('young')
}

/** The figures and the audit trail of the year add up. */
export async function december(year: Year) {
  await year.on(12, 20)
  const { acme } = year.story.tenants
  const { sent, refused } = year.story
  const root = year.root()
  // One message still waits for its recipient.
  const figures = await waitFor(async () => {
    const { data } = (await acme.get('/api/v1/analytics/dashboard/acme.test?days=365')).body
    return data.total_sent === sent.acme + refused && data
  })
  expect(figures).toMatchObject({ delivered: sent.acme - 1, bounced: 0, failed: refused + 1 })
  const { totals } = (await root.get('/api/v1/platform/analytics/overview?days=366')).body.data
  expect(totals).toMatchObject({
    sent: sent.acme + refused + sent.globex,
    delivered: sent.acme - 1 + sent.globex,
    bounced: 0,
    deferred: refused + 1,
  })
  const overview = await waitFor(async () => {
    const { data } = (await root.get('/api/v1/platform/overview')).body
    return data.degraded.length === 0 && data.queue.deferred === 1 && data
  })
  expect(overview).toMatchObject({
    organizations: { total: 1, active: 1, suspended: 0 },
    domains: { total: 2 },
    mailboxes: { total: 2 },
    services: { down: 0 },
    queue: { depth: 1 },
    webhooks: { dead_letters: 0 },
  })
  expect((await root.get('/api/v1/platform/provisioning-failures')).body.data.items).toEqual([])

  const actions: Record<string, number> = {}
  for (const action of Object.keys(AUDITED)) actions[action] = (await year.audit(action)).length
  expect(actions).toEqual(AUDITED)
  expect((await acme.get('/api/v1/platform/audit')).status).toBe(403)
  expect((await year.holder(JANE)).login.status).toBe(200)
  await waitFor(async () => {
    const { usage } = (await acme.get(`/api/v1/storage/usage/mailbox/${JANE}`)).body.data
    return usage.total_emails === 3
  })
  expect((await year.subjects(JANE)).sort()).toEqual(['large', 'large again', 'young'])
  const office = await acme.dashboard()
  const listed = (await office.get(`${DOMAINS}/`)).body.data.items
  expect(listed.map(({ domain }: { domain: string }) => domain).sort()).toEqual([
    'acme.test',
    'globex.test',
  ])
}
