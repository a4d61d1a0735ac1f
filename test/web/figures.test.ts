import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './support/chromium.ts'
import { confirmByName } from './support/confirm.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
describe.skipIf(!hasChromium)('mail and figures of a tenant', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it('leads from the overview to the messages that bounced, and to one of them', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app')
    await settled()
    await page.getByRole('slider', { name: 'Mail by day' }).waitFor()
    await page.getByText('The ownership of shop.test is not proven').first().waitFor()
    const bounced = page.locator('.facts > div').filter({ hasText: 'Bounced' })
    await bounced.getByRole('link').click()
    await page.waitForURL(/\/app\/messages\?status=bounced&direction=outbound$/)
    await page.getByRole('searchbox', { name: 'Recipient' }).fill('gone@elsewhere.test')
    await page.waitForURL(/recipient=gone/)
    await page.getByRole('link', { name: 'Your order 4711' }).click()
    await page.getByRole('heading', { name: 'Your order 4711' }).waitFor()
    await page.getByText('Greylisted, please try again').waitFor()
    await page.getByRole('link', { name: 'Show suppressions' }).waitFor()
    await close()
  })

  it('goes to older messages and back with the browser', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/messages?direction=inbound')
    await settled()
    const first = () => page.locator('tbody tr td').nth(1).textContent()
    const newest = await first()
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL(/cursor=/)
    await settled()
    await page.getByRole('link', { name: 'Newest' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Newest' }).waitFor({ state: 'detached' })
    await settled()
    expect(await first()).toBe(newest)
    expect(page.url()).toContain('direction=inbound')
    await close()
  })

  it('has each time in the own zone and in UTC where the pointer is', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/messages')
    await settled()
    const time = page.locator('tbody time').first()
    const at = (timeZone: string, moment: string) =>
      new Intl.DateTimeFormat('en-GB', {
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        timeZone,
      }).format(new Date(moment))
    const iso = (await time.getAttribute('datetime')) ?? ''
    const title = (await time.getAttribute('title')) ?? ''
    expect(title).toContain(at('Europe/Berlin', iso))
    expect(title).toContain(`${at('UTC', iso)} UTC`)
    await close()
  })

  it('has the figures of a chart as a table', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app')
    await settled()
    const table = page.getByRole('table', { name: 'Mail by day' })
    expect(await table.count()).toBe(0)
    await page.getByText('Show as table').first().click()
    await table.waitFor()
    const days = await table.getByRole('rowheader').count()
    expect(days).toBeGreaterThan(1)
    expect(await table.getByRole('row').count()).toBe(days + 1)
    await close()
  })

  it('makes a report, and schedules, changes and deletes one', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/reports?type=deliverability')
    await settled()
    await page.getByRole('button', { name: 'Make a report' }).click()
    await page.waitForURL(/\/app\/reports\/[0-9a-f-]{36}$/)
    await page.getByText('Bounce rate').waitFor()
    await page.goBack()
    await settled()

    await page.getByRole('button', { name: 'Schedule a report' }).click()
    const adding = page.getByRole('dialog', { name: 'Schedule a report' })
    await adding.getByLabel('Domain').selectOption('shop.test')
    await adding.getByLabel('Interval').selectOption('daily')
    await adding.getByLabel('Recipients').fill('ann@acme.test\nben@acme.test')
    await adding.getByRole('button', { name: 'Schedule a report' }).click()
    const row = page.getByRole('row').filter({ hasText: 'shop.test' })
    await row.getByRole('cell', { name: 'ann@acme.test, ben@acme.test' }).waitFor()

    await row.getByRole('button', { name: 'Actions for shop.test' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const editing = page.getByRole('dialog', { name: 'Edit the report of shop.test' })
    await editing.getByLabel('Interval').selectOption('monthly')
    await editing.getByRole('button', { name: 'Save' }).click()
    await row.getByRole('cell', { name: 'Every month', exact: true }).waitFor()

    await row.getByRole('button', { name: 'Actions for shop.test' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const deleting = page.getByRole('dialog', { name: 'Delete the scheduled report of shop.test?' })
    await confirmByName(deleting, 'Delete')
    await row.waitFor({ state: 'detached' })
    await close()
  })
})
