import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
describe.skipIf(!hasChromium)('sessions in the browser', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

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
