import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ulid } from '../../src/lib/ulid.ts'
import { PASSWORD } from '../support/app.ts'
import { hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
describe.skipIf(!hasChromium)('people and accounts', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it('lists the sessions of a person and ends one of them', async () => {
    const email = 'colleague@elsewhere.test'
    const owner = await world.app.core.db
      .selectFrom('dashboard_users')
      .selectAll()
      .where('id', '=', world.tenant.userId)
      .executeTakeFirstOrThrow()
    const userId = ulid()
    await world.app.core.db
      .insertInto('dashboard_users')
      .values({ ...owner, id: userId, email, role: 'read_only' })
      .execute()
    const [here, there] = [
      await world.app.session('dashboard', userId),
      await world.app.session('dashboard', userId),
    ]
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/people')
    await page.getByRole('button', { name: `Actions for ${email}` }).click()
    await page.getByRole('menuitem', { name: 'Sessions' }).click()
    const dialog = page.getByRole('dialog', { name: `Sessions of ${email}` })
    const ends = dialog.getByRole('button', { name: 'Sign out' })
    await ends.first().waitFor()
    expect(await ends.count()).toBe(2)
    await ends.first().click()
    await expect.poll(() => ends.count()).toBe(1)
    const answers = [await here.get('/api/v1/auth/me'), await there.get('/api/v1/auth/me')]
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401])
    expect(problems().filter((one) => !one.includes('401'))).toEqual([])
    await close()
  })

  it('requires a second factor of all people, and stops requiring it', async () => {
    const person = await world.app.session('dashboard', world.tenant.userId)
    const { page, close } = await world.visit(person.jar)
    await page.goto('/app/people')
    await page.getByText('Not required').waitFor()
    await page.getByRole('button', { name: 'Require it' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('are signed out').waitFor()
    await dialog.getByRole('button', { name: 'Require it' }).click()
    await dialog.getByRole('alert').waitFor()
    const { body } = await person.post('/api/v1/auth/two-factor/setup')
    await person.post('/api/v1/auth/two-factor/verify', { code: world.app.code(body.data.secret) })
    await dialog.getByRole('button', { name: 'Require it' }).click()
    await page.getByText('A second factor is required now').waitFor()
    await expect
      .poll(async () => (await world.tenant.get('/api/v1/users/policy')).body.data)
      .toMatchObject({ require_two_factor: true })
    await world.tenant.put('/api/v1/users/policy', { require_two_factor: false })
    await close()
  })

  it('gives an operator a new password and new backup codes, and ends another session', async () => {
    const operator = await world.app.operator('support')
    const elsewhere = await world.app.session('operator', operator.id)
    const { page, close } = await world.visit(operator.jar as Map<string, string>)
    await page.goto('/console/account')
    await page.getByRole('button', { name: 'Make new backup codes' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Current password').fill('wrong')
    await dialog.getByRole('button', { name: 'Make new backup codes' }).click()
    await dialog.getByText('Invalid email or password').waitFor()
    await dialog.getByLabel('Current password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Make new backup codes' }).click()
    const codes = page.getByRole('dialog', { name: 'Backup codes' })
    expect((await codes.locator('pre').textContent())?.split('\n')).toHaveLength(8)
    await codes.getByLabel('I have stored it').check()
    await codes.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByText('The session has ended').waitFor()
    expect((await elsewhere.get('/api/v1/platform/auth/me')).status).toBe(401)
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByLabel('New password').fill('another-passphrase-77')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The password is changed').waitFor()
    expect((await operator.get('/api/v1/platform/auth/me')).status).toBe(200)
    await close()
  })

  it('draws the use of an SMTP credential by day', async () => {
    const credential_id = world.samples.credential_id as string
    const row = (status: 'delivered' | 'bounced') => ({
      id: ulid(),
      credential_id,
      status,
      timestamp: world.app.clock.now().toISOString(),
    })
    await world.app.core.db
      .insertInto('mail_log')
      .values([row('delivered'), row('delivered'), row('bounced')])
      .execute()
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto(`/app/smtp-credentials/${credential_id}`)
    await page.getByText('Show as table').click()
    const table = page.getByRole('table', { name: 'Use in the last 30 days' })
    const last = table.getByRole('row').last()
    await last.waitFor()
    expect(await last.getByRole('cell').allInnerTexts()).toEqual(['2', '0', '1', '0'])
    expect(problems()).toEqual([])
    await close()
  })
})
