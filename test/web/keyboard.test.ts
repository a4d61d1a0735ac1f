import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './support/chromium.ts'
import { FOCUS_OF } from './support/keyboard.ts'
import { startWorld, type World } from './support/world.ts'

const FOCUSED = `({
  ...(${FOCUS_OF})(document.activeElement), body: document.activeElement === document.body,
})`

const INSIDE = `document.activeElement === document.body || document.activeElement.closest('dialog') !== null`

interface Focused {
  name: string
  ring: boolean
  big: boolean
  body: boolean
}

let world: World
describe.skipIf(!hasChromium)('the keyboard alone', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it.each([
    ['dashboard', '/app/mailboxes'],
    ['operator', '/console/organizations'],
    ['mailbox', '/mailbox/vacation'],
  ] as const)('sees every stop of the %s at %s', async (kind, path) => {
    const { page, settled, close } = await world.visit(await world.jars[kind]())
    await page.goto(path)
    await settled()
    const stops = await tabThrough(page)
    expect(stops.length).toBeGreaterThan(5)
    expect(stops.filter(({ ring }) => !ring).map(({ name }) => name)).toEqual([])
    expect(stops.filter(({ big }) => !big).map(({ name }) => name)).toEqual([])
    await close()
  })

  it('goes to another screen by the command palette and opens what it finds', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app')
    await settled()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('mailb')
    await page.getByRole('option', { name: 'Mailboxes', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/mailboxes')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('person-2@')
    await page.getByRole('option', { name: /person-2@acme.test/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'person-2@acme.test' }).waitFor()
    await close()
  })

  it('opens a dialog, stays in it, leaves it, and is back at the button', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/mailboxes')
    await settled()
    const button = page.getByRole('button', { name: 'Add mailbox' }).first()
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    // After the last field the focus is in the browser's own controls, never in the page behind.
    for (let press = 0; press < 12; press++) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(INSIDE)).toBe(true)
    }
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(await page.locator(':focus').textContent()).toBe('Add mailbox')
    await close()
  })

  it('adds a mailbox', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app')
    await settled()
    await tabTo(page, 'Mailboxes')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Mailboxes' }).waitFor()
    await settled()
    await tabTo(page, 'Add mailbox')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type(`typed@${world.tenant.domain}`)
    await page.keyboard.press('Tab')
    await page.keyboard.type('Typed Person')
    await page.keyboard.press('Tab')
    await page.keyboard.type('a-long-passphrase-1')
    await page.keyboard.press('Enter')
    await page.getByText(`typed@${world.tenant.domain} was added`).waitFor()
    expect(await page.locator(':focus').textContent()).toBe('Add mailbox')
    await close()
  })

  it('suspends an organization', async () => {
    const other = await world.app.tenant('typed')
    const { page, settled, close } = await world.visit(await world.jars.operator())
    await page.goto(`/console/organizations/${other.organizationId}`)
    await settled()
    await tabTo(page, 'Actions for typed')
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'Suspend')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByText('Suspended', { exact: true }).first().waitFor()
    await close()
  })

  it('changes the vacation reply of the own mailbox', async () => {
    const { page, settled, close } = await world.visit(await world.jars.mailbox())
    await page.goto('/mailbox')
    await settled()
    await tabTo(page, 'Vacation reply')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Subject' }).waitFor()
    await tabTo(page, 'subject')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Away until spring')
    await tabTo(page, 'Save')
    await page.keyboard.press('Enter')
    await page.getByText('The vacation reply is saved').waitFor()
    await page.reload()
    await settled()
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe(
      'Away until spring',
    )
    await close()
  })

  it('uses the menu of a row with the arrow keys', async () => {
    const { page, settled, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/mailboxes?q=person-1')
    await settled()
    await page.getByRole('button', { name: 'Actions for person-1@acme.test' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Reset password' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).press('Enter')
    await page.getByText('person-1@acme.test is suspended').waitFor()
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await page.getByText('person-1@acme.test is active').waitFor()
    await close()
  })

  it('moves a rule with the arrow keys, and by drag with the mouse', async () => {
    const { page, close } = await world.visit(await world.jars.mailbox())
    const holder = await world.app.session('mailbox', world.tenant.accountId)
    const rule = (name: string) => ({
      name,
      conditions: [{ field: 'subject', operator: 'contains', value: name }],
      actions: [{ type: 'flag' }],
    })
    const body = { rules: ['First', 'Second', 'Third'].map(rule) }
    expect(await holder.put('/api/v1/mailbox/rules', body)).toMatchObject({ status: 200 })
    const stored = async () =>
      (await holder.get('/api/v1/mailbox/rules')).body.data.rules.map(
        ({ name }: { name: string }) => name,
      )
    await page.goto('/mailbox/rules')
    await page.getByRole('button', { name: 'Down First' }).press('ArrowDown')
    await page.getByText('First is now rule 2').waitFor()
    expect(await page.locator(':focus').textContent()).toBe('Down First')
    expect(await stored()).toEqual(['Second', 'First', 'Third'])
    const drag = async (name: string, to: string) => {
      const row = (of: string) => page.getByRole('listitem').filter({ hasText: `Down ${of}` })
      await row(name).locator('.grip').hover()
      await page.mouse.down()
      await row(to).locator('h2').hover()
      await page.mouse.up()
    }
    await drag('Third', 'Second')
    await page.getByText('Third is now rule 1').waitFor()
    expect(await stored()).toEqual(['Third', 'Second', 'First'])
    await drag('Third', 'First')
    await page.getByText('Third is now rule 3').waitFor()
    expect(await stored()).toEqual(['Second', 'First', 'Third'])
    expect(await page.locator('[data-drag="moved"]').count()).toBe(0)
    await close()
  })
})

const NAME_OF_FOCUS = `(() => {
  const { ariaLabel, name, textContent } = document.activeElement
  return ariaLabel || name || textContent.trim()
})()`

/** Presses Tab until the focus is on the control with these words or the field with this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let press = 0; press < 100; press++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate(NAME_OF_FOCUS)) === name) return
  }
  throw new Error(`the Tab key does not reach ${name}`)
}

/** Presses Tab until the focus leaves the page. */
async function tabThrough(page: Page): Promise<Focused[]> {
  const stops: Focused[] = []
  for (let press = 0; press < 80; press++) {
    await page.keyboard.press('Tab')
    const focused = (await page.evaluate(FOCUSED)) as Focused
    if (focused.body) break
    stops.push(focused)
  }
  return stops
}
