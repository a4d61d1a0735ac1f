import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../src/lib/time.ts'
import { PASSWORD } from '../support/app.ts'
import { startMailServers } from '../support/mail-servers.ts'
import { hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
let mail: Awaited<ReturnType<typeof startMailServers>>
describe.skipIf(!hasChromium)('sessions in the browser', () => {
  beforeAll(async () => {
    mail = await startMailServers()
    world = await startWorld(mail.env)
  })
  afterAll(async () => {
    await world?.stop()
    await mail?.stop()
  })

  it('signs in, comes back to the address that was asked for, and signs out', async () => {
    const { page, close } = await world.visit()
    await page.goto('/app/mailboxes?q=person-1')
    await page.getByLabel('Email').fill(world.tenant.email)
    await page.getByLabel('Password').fill('wrong-passphrase-1')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('Invalid email or password').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/mailboxes?q=person-1')
    await page.getByRole('link', { name: 'person-1@acme.test' }).waitFor()
    await page.getByRole('button', { name: 'acme', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL('**/?as=dashboard')
    await page.goto('/app')
    await page.waitForURL('**/?as=dashboard')
    await close()
  })

  it('accepts no way back to another site', async () => {
    const { page, close } = await world.visit()
    await page.goto('/?as=dashboard&next=//evil.example/app')
    await page.getByLabel('Email').fill(world.tenant.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(new URL(page.url()).host).toBe(new URL(world.app.base).host)
    await close()
  })

  it('works as tenant, operator and mailbox holder at once', async () => {
    const jar = new Map([
      ...(await world.jars.dashboard()),
      ...(await world.jars.operator()),
      ...(await world.jars.mailbox()),
    ])
    const { context, page, close } = await world.visit(jar)
    await page.goto('/app/domains')
    await page.getByRole('link', { name: 'shop.test' }).waitFor()
    const operator = await context.newPage()
    await operator.goto('/console/organizations')
    await operator.getByRole('cell', { name: 'acme', exact: true }).waitFor()
    const holder = await context.newPage()
    await holder.goto('/mailbox/vacation')
    await holder.getByLabel('Text of the reply').fill('Back on Monday')
    await holder.getByLabel('Send a reply').check()
    await holder.getByRole('button', { name: 'Save' }).click()
    await holder.getByText('The vacation reply is saved').waitFor()
    // Writing as the tenant still works beside the other two.
    await page.getByRole('button', { name: 'Add domain' }).first().click()
    await page.getByRole('dialog').getByLabel('Domain').fill('beside.test')
    await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
    await page.getByRole('heading', { name: 'beside.test' }).waitFor()
    await close()
  })

  it('keeps what was typed when the session ends in the middle of a form', async () => {
    const session = await world.app.session('dashboard', world.tenant.userId)
    const { page, close } = await world.visit(session.jar)
    await page.goto('/app/mailboxes')
    await page.getByRole('button', { name: 'Add mailbox' }).first().click()
    const form = page.getByRole('dialog', { name: 'Add mailbox' })
    await form.getByLabel('Address').fill('late@acme.test')
    await form.getByLabel('Password').fill('a-long-passphrase-1')
    await session.post('/api/v1/auth/sessions/revoke-all')
    await form.getByRole('button', { name: 'Add mailbox' }).click()
    const again = page.getByRole('dialog', { name: 'Sign in' })
    await again.getByLabel('Password').fill(PASSWORD)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.waitFor({ state: 'hidden' })
    expect(await form.getByLabel('Address').inputValue()).toBe('late@acme.test')
    await form.getByRole('button', { name: 'Add mailbox' }).click()
    await page.getByText('late@acme.test was added').waitFor()
    await close()
  })

  it('asks an operator for password and code again, and keeps what was typed', async () => {
    const { app } = world
    const operator = await app.operator('owner')
    const { page, close } = await world.visit(operator.jar)
    await page.goto('/console/operators')
    await page.getByRole('button', { name: 'Add operator' }).first().click()
    const form = page.getByRole('dialog', { name: 'Add operator' })
    await form.getByLabel('Name').fill('Late Operator')
    await form.getByLabel('Email').fill('late@ops.test')
    await form.getByLabel('First password').fill('a-long-passphrase-1')
    await app.core.db
      .updateTable('operators')
      .set({ full_name: 'Changed meanwhile' })
      .where('id', '=', operator.id)
      .execute()
    await operator.post('/api/v1/platform/auth/logout')
    await form.getByRole('button', { name: 'Add operator' }).click()
    const again = page.getByRole('dialog', { name: 'Sign in' })
    expect(await again.getByLabel('Email').inputValue()).toBe(operator.email)
    await again.getByLabel('Password').fill(PASSWORD)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.getByLabel('Code').fill('000000')
    await again.getByRole('button', { name: 'Continue' }).click()
    await again.getByRole('alert').getByText('Invalid MFA code').waitFor()
    await again.getByLabel('Code').fill(app.code(operator.secret, 1))
    await again.getByRole('button', { name: 'Continue' }).click()
    await again.waitFor({ state: 'hidden' })
    expect(await form.getByLabel('Name').inputValue()).toBe('Late Operator')
    expect(await form.getByLabel('Email').inputValue()).toBe('late@ops.test')
    expect(await form.getByLabel('First password').inputValue()).toBe('a-long-passphrase-1')
    // The page below is read again with the new session.
    await page
      .getByRole('cell', { name: /^Changed meanwhile/, includeHidden: true })
      .waitFor({ state: 'attached' })
    await form.getByRole('button', { name: 'Add operator' }).click()
    await page.getByText('Late Operator was added').waitFor()
    await page.getByRole('cell', { name: /^Late Operator/ }).waitFor()
    await close()
  })

  it.each([
    ['dashboard', '/app/account', 'Invalid email or password'],
    ['mailbox', '/mailbox/password', 'Current password is incorrect'],
  ] as const)(
    'refuses a wrong current password in the form, without an end of the %s session',
    async (kind, address, refusal) => {
      const { page, close } = await world.visit(await world.jars[kind]())
      await page.goto(address)
      await page.getByLabel('Current password').fill('not-my-passphrase-1')
      await page.getByLabel('New password', { exact: true }).fill('another-passphrase-2')
      if (kind === 'mailbox') {
        await page.getByLabel('New password again').fill('another-passphrase-2')
      }
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByText(refusal).waitFor()
      expect(await page.getByRole('dialog').count()).toBe(0)
      await close()
    },
  )

  it.each([
    ['dashboard', '/app/account', 'Invalid MFA code'],
    ['mailbox', '/mailbox/two-factor', 'Invalid two-factor code'],
  ] as const)(
    'refuses wrong codes of a second factor in the form, without an end of the %s session',
    async (kind, address, refusal) => {
      // Earlier refusals would count, and the third makes the next attempt wait.
      world.app.clock.advance(HOUR_MS)
      const { page, close } = await world.visit(await world.jars[kind]())
      const ended = page.getByRole('dialog', { name: 'Sign in' })
      await page.goto(address)
      await page.getByRole('button', { name: 'Set up' }).click()
      const enrol = page.getByRole('dialog')
      const secret = (await enrol.locator('.enrol code').textContent())?.replaceAll(' ', '') ?? ''
      await enrol.getByLabel('I have stored them').check()
      await enrol.getByLabel('Code', { exact: true }).fill('000000')
      await enrol.getByRole('button', { name: 'Turn on' }).click()
      await enrol.getByText(refusal).waitFor()
      expect(await ended.count()).toBe(0)
      await enrol.getByLabel('Code', { exact: true }).fill(world.app.code(secret))
      await enrol.getByRole('button', { name: 'Turn on' }).click()
      await enrol.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Turn off' }).click()
      const leave = page.getByRole('dialog')
      await leave.getByLabel('Code', { exact: true }).fill('000000')
      await leave.getByRole('button', { name: 'Turn off' }).click()
      await leave.getByText(refusal).waitFor()
      expect(await ended.count()).toBe(0)
      await leave.getByLabel('Code', { exact: true }).fill(world.app.code(secret, 1))
      await leave.getByRole('button', { name: 'Turn off' }).click()
      await page.getByText('The second factor is off').waitFor()
      await close()
    },
  )

  it('stores no token where scripts can read it', async () => {
    const { page, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/mailboxes')
    await page.getByRole('heading', { name: 'Mailboxes' }).waitFor()
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
    await close()
  })

  it('hides from a read-only user what would be refused', async () => {
    const { app, tenant } = world
    await app.core.db
      .updateTable('dashboard_users')
      .set({ role: 'read_only' })
      .where('id', '=', tenant.userId)
      .execute()
    const { page, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/mailboxes')
    await page.getByRole('link', { name: 'person-1@acme.test' }).waitFor()
    expect(await page.getByRole('button', { name: 'Add mailbox' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
    await close()
  })
})
