import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { settingsOf } from './script-store.repository.ts'

const EMAIL = 'jane@contested.test'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

/** Adds the domain, unproven, with a mailbox that forwards. */
async function prepared(name: string) {
  const tenant = await app.tenant(name)
  const added = await tenant.post('/api/v1/domains/', { domain: 'contested.test' })
  const account = await tenant.post('/api/v1/mailboxes/email-accounts', {
    email: EMAIL,
    password: PASSWORD,
    forward_enabled: true,
    forward_destination: `jane@${name}-elsewhere.test`,
  })
  expect([added.status, account.status]).toEqual([201, 201])
  return added.body.data.id as string
}

it('follows the owner of a domain, not another claim on its name', async () => {
  const { db } = app.core
  const attackers = await prepared('evil')
  const owners = await prepared('acme')
  expect(await settingsOf(db, EMAIL)).toBeUndefined()
  await app.prove(owners)
  expect(await settingsOf(db, EMAIL)).toMatchObject({
    forward_destination: 'jane@acme-elsewhere.test',
  })
  // The end of the other claim does not take the mark of the owner with it.
  await db.deleteFrom('email_accounts').where('domain_id', '=', attackers).execute()
  const marks = db.selectFrom('mailbox_scripts_pending').select('email')
  expect(await marks.where('email', '=', EMAIL).execute()).toHaveLength(1)
})
