import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { METRICS } from '../../src/features/platform/alerts/alert-metrics.ts'
import { hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
const changes: string[] = []
describe.skipIf(!hasChromium)('the mail queue and the alerts of the console', () => {
  beforeAll(async () => {
    world = await startWorld()
    const { mailQueue } = world.app.core
    mailQueue.delete = async (id) => {
      changes.push(`delete ${id}`)
      return true
    }
    mailQueue.requeue = async (id) => {
      changes.push(`requeue ${id}`)
      return true
    }
    mailQueue.headers = async () => ({
      sender: 'news@acme.test',
      recipients: ['a@elsewhere.test'],
      headers: [{ name: 'Subject', value: '<b>News</b> \u202eof May' }],
      truncated: false,
    })
    mailQueue.changeAll = async (change, ids) => {
      if (ids.length > 0) changes.push(`${change} ${ids.join()}`)
      return [...ids]
    }
  })
  afterAll(() => world?.stop())

  it('delete a message after a reason and its id typed', async () => {
    const { page, close } = await world.visit(await world.jars.operator('operator'))
    await page.goto('/console/queue')
    await page.getByRole('button', { name: 'Actions for 4jQ0zX1c7Pz9TWb' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    const submit = dialog.getByRole('button', { name: 'Delete' })
    await dialog.getByLabel('Reason').fill('Spam of a stolen login')
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel('Type 4jQ0zX1c7Pz9TWb to confirm').fill('4jQ0zX1c7Pz9TWb')
    await submit.click()
    await page.getByText('4jQ0zX1c7Pz9TWb was deleted').waitFor()
    expect(changes).toEqual(['delete 4jQ0zX1c7Pz9TWb'])
    await close()
  })

  it('delete all mail of a sender after it was counted and the sender typed', async () => {
    changes.length = 0
    const { page, close } = await world.visit(await world.jars.operator('operator'))
    await page.goto('/console/queue')
    await page.getByRole('button', { name: 'Mail of a sender' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Sender').fill('news@acme.test')
    await dialog.getByLabel('Action').selectOption('delete')
    await dialog.getByLabel('Reason').fill('Spam of a stolen login')
    await dialog.getByRole('button', { name: 'Count the messages' }).click()
    const submit = dialog.getByRole('button', { name: 'Delete 1 messages' })
    await submit.waitFor()
    expect(changes, 'nothing changes before the count was seen').toEqual([])
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel('Type news@acme.test to confirm').fill('news@acme.test')
    await submit.click()
    await page.getByText('1 messages were changed').waitFor()
    expect(changes).toEqual(['delete 4jQ0zX1c7Pz9TWb'])
    const { body } = await (await world.app.operator('owner')).get('/api/v1/platform/audit')
    expect(JSON.stringify(body)).toContain('Spam of a stolen login')
    await close()
  })

  it('show the header of a message as text, and requeue it with a reason', async () => {
    changes.length = 0
    const { page, close } = await world.visit(await world.jars.operator('operator'))
    await page.goto('/console/queue')
    const menu = page.getByRole('button', { name: 'Actions for 4jQ0zX1c7Pz9TWb' })
    await menu.click()
    await page.getByRole('menuitem', { name: 'Show header' }).click()
    await page.getByText('Subject: <b>News</b>').waitFor()
    await page.keyboard.press('Escape')
    await menu.click()
    await page.getByRole('menuitem', { name: 'Requeue' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('The route has changed')
    await dialog.getByRole('button', { name: 'Requeue' }).click()
    await page.getByText('4jQ0zX1c7Pz9TWb was requeued').waitFor()
    expect(changes).toEqual(['requeue 4jQ0zX1c7Pz9TWb'])
    await close()
  })

  it('delete what a filter matches after the count was seen and typed', async () => {
    changes.length = 0
    const { page, close } = await world.visit(await world.jars.operator('operator'))
    await page.goto('/console/queue')
    await page.getByRole('button', { name: 'Mail by filter' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Domain of a recipient').fill('far.test')
    await dialog.getByLabel('Action').selectOption('delete')
    await dialog.getByLabel('Reason').fill('A wrong list of addresses')
    await dialog.getByRole('button', { name: 'Count the messages' }).click()
    const submit = dialog.getByRole('button', { name: 'Delete 1 messages' })
    await submit.waitFor()
    expect(changes, 'nothing changes before the count was seen').toEqual([])
    await dialog.getByLabel('Type 1 to confirm').fill('1')
    await submit.click()
    await page.getByText('1 messages were changed').waitFor()
    expect(changes).toEqual(['delete 4jQ0zX1c7Pz9TWb'])
    await close()
  })

  it('offer no deletion to a role that may not delete', async () => {
    const { page, settled, close } = await world.visit(await world.jars.operator('support'))
    await page.goto('/console/queue')
    await settled()
    expect(await page.getByRole('button', { name: 'Mail of a sender' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Actions for 4jQ0zX1c7Pz9TWb' }).click()
    expect(await page.getByRole('menuitem').allTextContents()).toEqual([
      'Show header',
      'Trace mail of this sender',
    ])
    await close()
  })

  it('offer a rule for every metric of the API', async () => {
    const { page, settled, close } = await world.visit(await world.jars.operator('operator'))
    await page.goto('/console/alerts/rules')
    await settled()
    await page.getByRole('button', { name: 'Add rule' }).click()
    const figure = page.getByRole('dialog').getByLabel('Figure')
    await figure.selectOption('backup_age_hours')
    const options = await figure.locator('option').evaluateAll(
      // The page runs this; the tests are compiled without the types of a browser.
      (found) => found.map((one) => (one as unknown as { value: string }).value),
    )
    expect(options.sort()).toEqual([...METRICS].sort())
    await page.getByRole('dialog').getByText('last completed backup').waitFor()
    await close()
  })
})
