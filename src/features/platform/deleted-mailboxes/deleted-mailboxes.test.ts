import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { DAY_MS } from '../../../lib/time.ts'

const PATH = '/api/v1/platform/deleted-mailboxes'
let app: App
let support: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp({ env: { DELETED_MAIL_DAYS: '10' } })
  support = await app.operator('support')
})
afterAll(() => app.stop())

it('lists deleted mailboxes of all organizations and when their mail is removed', async () => {
  const acme = await app.tenant('acme')
  const globex = await app.tenant('globex')
  for (const tenant of [acme, globex]) {
    expect(
      (await tenant.delete(`/api/v1/mailboxes/email-accounts/${tenant.accountId}`)).status,
    ).toBe(200)
  }
  const { body } = await support.get(PATH)
  const items = body.data.items as Record<string, string>[]
  expect(items.map(({ email }) => email).sort()).toEqual([acme.email, globex.email])
  expect(body.data.pagination.total).toBe(2)
  const [first] = items
  expect(first).toMatchObject({ held: false, attempts: 0, error_message: null })
  const waits = Date.parse(first?.purge_after ?? '') - Date.parse(first?.deleted_at ?? '')
  expect(waits).toBe(10 * DAY_MS)
  const own = await support.get(`${PATH}?organization_id=${globex.organizationId}`)
  expect(own.body.data.items).toMatchObject([{ id: globex.accountId, email: globex.email }])
  expect((await support.get(`${PATH}?q=nobody`)).body.data.items).toEqual([])
})

it('shows a legal hold and the reason of a failed removal', async () => {
  const { db } = app.core
  const held = await app.tenant('held')
  await held.delete(`/api/v1/mailboxes/email-accounts/${held.accountId}`)
  const later = new Date(Date.now() + 60 * DAY_MS).toISOString()
  await db
    .updateTable('deleted_mailboxes')
    .set({ due_at: later, attempts: 3, error_message: 'Dovecot does not answer' })
    .where('id', '=', held.accountId)
    .execute()
  await db
    .insertInto('legal_holds')
    .values({
      organization_id: held.organizationId,
      name: 'A case',
      reason: 'Asked for by a court',
      created_by: 'court@host.test',
    })
    .execute()
  const { body } = await support.get(`${PATH}?organization_id=${held.organizationId}`)
  expect(body.data.items).toMatchObject([
    { held: true, attempts: 3, error_message: 'Dovecot does not answer', purge_after: later },
  ])
})
