import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, type Visitor } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

const LIST = '**/api/v1/mailboxes/email-accounts?*'

let world: World
describe.skipIf(!hasChromium)('when something fails', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  const visit = async (): Promise<Visitor> => world.visit(await world.jars.dashboard())

  it('a server that is away is named, and trying again works', async () => {
    const { page, close } = await visit()
    await page.route(LIST, (route) => route.abort())
    await page.goto('/app/mailboxes')
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
    await page.unroute(LIST)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'person-1@acme.test' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await close()
  })

  it('an error repeats the words of the API with the correlation id to copy', async () => {
    const { page, close } = await visit()
    await page.route(LIST, (route) =>
      route.fulfill({
        status: 503,
        headers: { 'x-correlation-id': 'req_1234' },
        json: { type: 'error', msg: 'The database is restarting' },
      }),
    )
    await page.goto('/app/mailboxes')
    await page.getByRole('alert').getByText('The database is restarting').waitFor()
    await page.getByRole('button', { name: 'Copy Reference' }).click()
    await page.getByText('Copied').first().waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('req_1234')
    await close()
  })

  it('a throttled form counts down and keeps what was typed', async () => {
    const { page, close } = await visit()
    const path = '**/api/v1/mailboxes/email-accounts'
    await page.route(path, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 429,
            headers: { 'retry-after': '2' },
            json: { type: 'error', msg: 'Too many requests' },
          })
        : route.continue(),
    )
    await page.goto('/app/mailboxes')
    await page.getByRole('button', { name: 'Add mailbox' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Add mailbox' })
    await dialog.getByLabel('Address').fill('slow@acme.test')
    await dialog.getByLabel('Password').fill('a-long-passphrase-1')
    await dialog.getByRole('button', { name: 'Add mailbox' }).click()
    await dialog.getByRole('button', { name: /Try again in \d s/ }).waitFor()
    await page.unroute(path)
    await dialog.getByRole('button', { name: 'Add mailbox' }).click()
    await page.getByText('slow@acme.test was added').waitFor()
    await close()
  })

  it('the words of the server about a value are shown, and what was typed stays', async () => {
    const { page, close } = await visit()
    await page.goto('/app/mailboxes')
    await page.getByRole('button', { name: 'Add mailbox' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Add mailbox' })
    await dialog.getByLabel('Address').fill('long@acme.test')
    await dialog.getByLabel('Name').fill('x'.repeat(300))
    await dialog.getByLabel('Password').fill('a-long-passphrase-1')
    await dialog.getByRole('button', { name: 'Add mailbox' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/name .*255/i)
      .waitFor()
    expect(await dialog.getByLabel('Address').inputValue()).toBe('long@acme.test')
    await close()
  })

  it('a slow answer of an earlier search does not replace a later one', async () => {
    const { page, close } = await visit()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(LIST, async (route) => {
      if (route.request().url().includes('q=person-1&')) await held
      await route.continue()
    })
    await page.goto('/app/mailboxes')
    await page.getByRole('searchbox').fill('person-1')
    await page.waitForURL('**q=person-1')
    await page.getByRole('searchbox').fill('person-2')
    await page.getByText('1–1 of 1').waitFor()
    const late = page.waitForResponse((answer) => answer.url().includes('q=person-1&'))
    release()
    await late
    expect(await page.getByRole('link', { name: 'person-2@acme.test' }).count()).toBe(1)
    expect(await page.getByRole('link', { name: 'person-1@acme.test' }).count()).toBe(0)
    await close()
  })

  it('the address has the state: reload and the back button show the same rows', async () => {
    const { page, close } = await visit()
    await page.goto('/app/mailboxes?q=person-2')
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('link', { name: 'person-2@acme.test' }).click()
    await page.getByRole('heading', { name: 'person-2@acme.test' }).waitFor()
    await page.goBack()
    await page.getByText('1–1 of 1').waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe('person-2')
    await page.reload()
    await page.getByText('1–1 of 1').waitFor()
    await close()
  })

  it('a change in one tab is seen in the other when it becomes visible', async () => {
    const { context, page, close } = await visit()
    await page.goto('/app/domains')
    await page.getByRole('link', { name: 'shop.test' }).waitFor()
    await world.tenant.post('/api/v1/domains/', { domain: 'later.test' })
    const other = await context.newPage()
    await other.goto('/app')
    await page.bringToFront()
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByRole('link', { name: 'later.test' }).waitFor()
    await close()
  })

  it('the error of a menu item and of an undo is shown in a dialog with the correlation id', async () => {
    const { page, close } = await visit()
    const path = '**/api/v1/mailboxes/email-accounts/*'
    const fail = () =>
      page.route(path, (route) =>
        route.request().method() === 'PUT'
          ? route.fulfill({
              status: 500,
              headers: { 'x-correlation-id': 'req_5678' },
              json: { type: 'error', msg: 'The disk is full' },
            })
          : route.continue(),
      )
    const failed = page.getByRole('dialog', { name: 'This did not work' })
    const seeAndClose = async () => {
      await failed.getByText('The disk is full').waitFor()
      await failed.getByText('req_5678').waitFor()
      await failed.getByRole('button', { name: 'Close' }).click()
      await failed.waitFor({ state: 'hidden' })
    }
    const suspended = page.getByRole('row', { name: /person-1@.*Suspended/s })
    await page.goto('/app/mailboxes')
    await page.getByRole('button', { name: 'Actions for person-1@acme.test' }).click()
    await page.getByRole('menuitem', { name: 'Suspend' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    await page.getByText('person-1@acme.test is suspended').waitFor()
    await fail()
    await page.getByRole('button', { name: 'Undo' }).click()
    await seeAndClose()
    await page.getByRole('button', { name: 'Actions for person-1@acme.test' }).click()
    await page.getByRole('menuitem', { name: 'Activate' }).click()
    await seeAndClose()
    expect(await suspended.count()).toBe(1)
    await page.unroute(path)
    await page.getByRole('button', { name: 'Actions for person-1@acme.test' }).click()
    await page.getByRole('menuitem', { name: 'Activate' }).click()
    await page.getByText('person-1@acme.test is active').waitFor()
    await suspended.waitFor({ state: 'detached' })
    await close()
  })

  it('an error that no handler caught is shown too', async () => {
    const { page, settled, close } = await visit()
    await page.goto('/app')
    await settled()
    await page.evaluate(`setTimeout(() => Promise.reject(new Error('a mistake in a page')))`)
    await page.getByRole('dialog').getByText('a mistake in a page').waitFor()
    await close()
  })

  it('a row that was deleted elsewhere is refused in words and leaves the list', async () => {
    const { page, close } = await visit()
    const email = 'short-lived@acme.test'
    const made = await world.tenant.post('/api/v1/mailboxes/email-accounts', {
      email,
      password: 'a-long-passphrase-1',
    })
    await page.goto('/app/mailboxes')
    await page.getByRole('button', { name: `Actions for ${email}` }).click()
    await page.getByRole('menuitem', { name: 'Suspend' }).click()
    await world.tenant.delete(`/api/v1/mailboxes/email-accounts/${made.body.data.id}`)
    const dialog = page.getByRole('dialog', { name: `Suspend ${email}?` })
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await dialog.getByText('Email account not found').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: email }).waitFor({ state: 'detached' })
    await close()
  })

  describe('in a list of two pages', () => {
    const LAST = 'zzz@acme.test'
    const row = (source: string) => ({ source, destination: 'person-0@acme.test' })

    beforeAll(async () => {
      const items = Array.from({ length: 24 }, (_, index) => row(`many-${index}@acme.test`))
      for (const item of [...items, row(LAST)]) {
        const answer = await world.tenant.post('/api/v1/aliases/add', item)
        expect(answer.status, answer.text).toBeLessThan(300)
      }
    })

    it('the back button leads from page 2 to page 1, and from another order to the one before', async () => {
      const { page, close } = await visit()
      await page.goto('/app/aliases')
      await page.getByText('1–25 of 26').waitFor()
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByText('26–26 of 26').waitFor()
      await page.goBack()
      await page.getByText('1–25 of 26').waitFor()
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/app/aliases')
      await page.getByRole('columnheader', { name: 'Address' }).getByRole('button').click()
      await page.getByRole('cell', { name: LAST, exact: true }).waitFor()
      await page.goBack()
      await page.getByRole('cell', { name: LAST, exact: true }).waitFor({ state: 'detached' })
      await close()
    })

    it('the page before is shown when the last row of the last page is deleted', async () => {
      const { page, close } = await visit()
      await page.goto('/app/aliases')
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByText('26–26 of 26').waitFor()
      await page.getByRole('button', { name: `Actions for ${LAST}` }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('1–25 of 25').waitFor()
      expect(await page.getByText('Nothing matches').count()).toBe(0)
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('1–25 of 26').waitFor()
      const { body } = await world.tenant.get(`/api/v1/aliases/get/${LAST}`)
      expect(body.data).toMatchObject([{ ...row(LAST), active: true }])
      await close()
    })
  })
})
