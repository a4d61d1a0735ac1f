import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const path = () => `/api/v1/mailboxes/email-accounts/${acme.accountId}`
const enroll = async () => {
  const { twoFactor } = app.core.access
  const holder = { kind: 'mailbox' as const, id: acme.accountId }
  const { secret = '' } = (await twoFactor.begin(app.core.db, holder, acme.email)) ?? {}
  await twoFactor.spend(app.core.db, holder, app.code(secret))
}

it('is cleared by the tenant or an operator, which ends the sessions of the holder (B3.4)', async () => {
  const operator = await app.operator('operator')
  for (const caller of [acme, operator]) {
    await enroll()
    const holder = await app.session('mailbox', acme.accountId)
    expect((await caller.get(`${path()}/two-factor`)).body.data).toMatchObject({ enabled: true })
    expect((await caller.post(`${path()}/two-factor-reset`)).body.data).toEqual({
      account_id: acme.accountId,
      two_factor_cleared: true,
      sessions_revoked: 1,
    })
    expect((await holder.get('/api/v1/mailbox/two-factor')).status).toBe(401)
    expect((await caller.get(`${path()}/two-factor`)).body.data).toMatchObject({ enabled: false })
  }
  const events = await app.core.db
    .selectFrom('events')
    .select('data')
    .where('event', '=', 'mailbox.two_factor.reset')
    .execute()
  expect(events).toHaveLength(2)
  const audit = await app.core.db
    .selectFrom('operator_audit')
    .select('target_id')
    .where('action', '=', 'reset_email_account_two_factor')
    .execute()
  expect(audit).toEqual([{ target_id: acme.accountId }, { target_id: acme.accountId }])
})

it('is neither shown nor cleared for another organization or a read-only caller', async () => {
  await enroll()
  expect((await globex.get(`${path()}/two-factor`)).status).toBe(404)
  expect((await globex.post(`${path()}/two-factor-reset`)).status).toBe(404)
  const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
  expect((await reader.post(`${path()}/two-factor-reset`)).status).toBe(403)
  const support = await app.operator('support')
  expect((await support.post(`${path()}/two-factor-reset`)).status).toBe(403)
  expect((await acme.get(`${path()}/two-factor`)).body.data.enabled).toBe(true)
})
