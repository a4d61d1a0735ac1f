import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './support/chromium.ts'
import { confirmByName } from './support/confirm.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
describe.skipIf(!hasChromium)('mail hosts in the console', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  const open = async (role: 'support' | 'operator' | 'admin', path: string) => {
    const guest = await world.visit(await world.jars.operator(role))
    await guest.page.goto(path)
    return guest
  }
  type Page = Awaited<ReturnType<typeof open>>['page']
  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
  const choose = async (page: Page, host: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${host}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
    return page.getByRole('dialog')
  }

  it('are shown without buttons to operators who may only read', async () => {
    const { page, close } = await open('support', '/console/mail-hosts')
    await rowOf(page, 'front').getByText('Proxy').waitFor()
    expect(await page.getByRole('button', { name: 'Add mail host' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Moves of mailboxes' }).click()
    await page.getByText('the copy differs from the mailbox').waitFor()
    expect(await page.getByRole('button', { name: /mailbox|Cancel/ }).count()).toBe(0)
    const organization = `/console/organizations/${world.tenant.organizationId}/mailboxes`
    await page.goto(organization)
    await page.getByRole('cell', { name: 'person-5@acme.test' }).waitFor()
    expect(await page.getByRole('button', { name: /^Move/ }).count()).toBe(0)
    await close()
  })

  it('say at the field why a host is refused, and are added and changed', async () => {
    const { page, close } = await open('admin', '/console/mail-hosts')
    await page.getByRole('button', { name: 'Add mail host' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('three')
    await dialog.getByLabel('Address').fill('three.internal.test')
    await dialog.getByLabel('Backend').check()
    await dialog.getByRole('button', { name: 'Add mail host' }).click()
    await dialog.getByText('A host with this role runs Dovecot').waitFor()
    await dialog.getByLabel('URL of Dovecot').fill('http://127.0.0.1:1')
    await dialog.getByLabel('Port of copies').fill('2500')
    await dialog.getByRole('button', { name: 'Add mail host' }).click()
    await page.getByText('three was added').waitFor()

    const changing = await choose(page, 'three', 'Change addresses')
    expect(await changing.getByLabel('Port of copies').inputValue()).toBe('2500')
    await changing.getByLabel('Address').fill('third.internal.test')
    await changing.getByRole('button', { name: 'Save' }).click()
    await rowOf(page, 'three').getByText('third.internal.test').waitFor()
    await close()
  })

  it('move a mailbox from its row, and cancel the move', async () => {
    const email = 'person-5@acme.test'
    const path = `/console/organizations/${world.tenant.organizationId}/mailboxes`
    const { page, close } = await open('operator', path)
    await page.getByRole('button', { name: `Move ${email}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('To the host').selectOption('one')
    await dialog.getByRole('button', { name: 'Move a mailbox' }).click()
    await dialog.getByText('The mailbox is on that mail host, or is being moved').waitFor()
    await dialog.getByLabel('To the host').selectOption('two')
    await dialog.getByRole('button', { name: 'Move a mailbox' }).click()
    await page.getByText('The move was started').waitFor()

    await page.goto('/console/mail-hosts/moves?state=waiting')
    await page.getByRole('button', { name: `Cancel move ${email}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel move' }).click()
    await page.getByText('The move was cancelled').waitFor()
    await rowOf(page, email).waitFor({ state: 'detached' })
    await page.getByLabel('Any state').selectOption('Cancelled')
    await rowOf(page, email).getByText('one → two').waitFor()
    await close()
  })

  it('are drained with the number of moves that are left', async () => {
    const { page, close } = await open('admin', '/console/mail-hosts')
    const refused = await choose(page, 'one', 'Remove')
    await confirmByName(refused, 'Remove')
    await refused.getByText('drain it first').waitFor()
    await refused.getByRole('button', { name: 'Cancel' }).click()
    const draining = await choose(page, 'one', 'Move all mailboxes away')
    await draining.getByRole('button', { name: 'Move all mailboxes away' }).click()
    await page.getByText(/\d+ moves were started/).waitFor()
    const row = rowOf(page, 'one.internal.test')
    await row.getByText('Draining').waitFor()
    const moves = await world.app.core.db
      .selectFrom('mailbox_moves')
      .select('id')
      .where('state', 'in', ['waiting', 'copying'])
      .execute()
    await row.getByRole('link', { name: String(moves.length), exact: true }).click()
    await page.getByRole('heading', { name: 'Moves of mailboxes' }).waitFor()
    await close()
  })

  it('can be set away and removed, and the last page explains what they are for', async () => {
    const { page, close } = await open('admin', '/console/mail-hosts')
    const away = await choose(page, 'three', 'Set away')
    await away.getByRole('button', { name: 'Set away' }).click()
    await rowOf(page, 'three').getByText('Away', { exact: true }).waitFor()
    const active = await choose(page, 'three', 'Set active')
    await active.getByRole('button', { name: 'Set active' }).click()
    await active.getByText('does not answer at its doveadm_url').waitFor()
    await active.getByRole('button', { name: 'Cancel' }).click()
    await world.app.core.db.deleteFrom('mailbox_moves').execute()
    await world.app.core.db.deleteFrom('mailbox_places').execute()
    for (const name of ['three', 'two', 'one', 'front']) {
      const removing = await choose(page, name, 'Remove')
      await confirmByName(removing, 'Remove')
      await page.getByText(`${name} was removed`).waitFor()
    }
    await page.getByText('docs/growing.md').waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Add mail host' }).last().waitFor()
    await close()
  })
})
