import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

const csv = (...lines: string[]) => ({
  name: 'list.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(`${lines.join('\r\n')}\r\n`),
})

let world: World
describe.skipIf(!hasChromium)('many at once from a file', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it('shows what was read of mailboxes, and adds them when no line has a problem', async () => {
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/mailboxes')
    await page.getByRole('button', { name: 'Add many' }).click()
    const dialog = page.getByRole('dialog')
    const file = dialog.getByLabel('CSV file')
    const submit = dialog.getByRole('button', { name: 'Add mailboxes' })
    await file.setInputFiles(
      csv('email,name,password', 'one@acme.test,"Borg, Ada"', 'ONE@acme.test', 'nobody'),
    )
    await dialog.getByText('2 of 3 lines have a problem').waitFor()
    await dialog.getByRole('row', { name: /3.*ONE@acme\.test.*Is there twice/ }).waitFor()
    await dialog.getByRole('row', { name: /nobody.*Does not start with an address/ }).waitFor()
    expect(await submit.isDisabled()).toBe(true)
    await file.setInputFiles(
      csv('email,name,password', 'one@acme.test,"Borg, Ada"', 'two@acme.test,Two,a-long-word-22'),
    )
    await dialog.getByRole('row', { name: /one@acme\.test.*Borg, Ada.*Made/ }).waitFor()
    await dialog.getByRole('row', { name: /two@acme\.test.*Two.*From the line/ }).waitFor()
    await submit.click()
    await dialog.getByText('2 mailboxes were added.').waitFor()
    expect(problems()).toEqual([])
    await close()
  })

  it('shows what was read of aliases, and adds them', async () => {
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/aliases')
    await page.getByRole('button', { name: 'Add many' }).click()
    const dialog = page.getByRole('dialog')
    const file = dialog.getByLabel('CSV file')
    await file.setInputFiles(
      csv('alias,destination', 'sales@acme.test,person-0@acme.test', 'alone@acme.test'),
    )
    await dialog.getByRole('row', { name: /alone@acme\.test.*Has no destination/ }).waitFor()
    await file.setInputFiles(csv('sales@acme.test,person-0@acme.test,person-1@acme.test'))
    await dialog.getByRole('row', { name: /sales@acme\.test.*person-0@acme\.test/ }).waitFor()
    await dialog.getByRole('button', { name: 'Add many' }).click()
    await page.getByText('1 aliases were added').waitFor()
    expect(problems()).toEqual([])
    await close()
  })

  it('starts imports of many mailboxes', async () => {
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/migration')
    await page.getByRole('button', { name: 'Import many' }).click()
    const dialog = page.getByRole('dialog')
    const file = dialog.getByLabel('CSV file')
    const submit = dialog.getByRole('button', { name: 'Import many' })
    await dialog.getByLabel('IMAP server').fill('imap.provider.test')
    await file.setInputFiles(csv('person-0@acme.test,here-0,jane@provider.test'))
    await dialog.getByRole('row', { name: /person-0@acme\.test.*Needs four values/ }).waitFor()
    expect(await submit.isDisabled()).toBe(true)
    await file.setInputFiles(
      csv(
        'person-0@acme.test,here-0,jane@provider.test,there-0',
        'person-1@acme.test,here-1,ada@provider.test,there-1',
      ),
    )
    await dialog.getByRole('row', { name: /person-1@acme\.test.*ada@provider\.test/ }).waitFor()
    expect(
      await dialog.getByRole('table').getByText('there-1').count(),
      'passwords in the preview',
    ).toBe(0)
    await submit.click()
    await page.getByText('2 migrations have started').waitFor()
    await page
      .getByRole('row', { name: /person-1@acme\.test.*ada@provider\.test.*Import/s })
      .waitFor()
    expect(problems()).toEqual([])
    await close()
  })

  it('starts the export of one mailbox, and of many', async () => {
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/migration')
    await page.getByRole('button', { name: 'Export a mailbox' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('IMAP server').fill('imap.next.test')
    await dialog.getByLabel('User name there').fill('grace@next.test')
    await dialog.getByLabel('Password there').fill('there')
    await dialog.getByLabel('Mailbox here', { exact: true }).fill('person-2@acme.test')
    await dialog.getByLabel('Password of the mailbox here').fill('here')
    await dialog.getByRole('button', { name: 'Export a mailbox' }).click()
    await page.getByText('The export of person-2@acme.test has started').waitFor()
    await page.getByRole('button', { name: 'Export many' }).click()
    await dialog.getByLabel('IMAP server').fill('imap.next.test')
    await dialog
      .getByLabel('One mailbox in each line')
      .fill('person-0@acme.test;here;jane@next.test;there')
    await dialog.getByRole('button', { name: 'Export many' }).click()
    await page.getByText('1 migrations have started').waitFor()
    const { body } = await world.tenant.get('/api/v1/migration/jobs?direction=export')
    expect(body.jobs.map((job: { target_host?: string }) => job.target_host ?? '')).toHaveLength(2)
    expect(problems()).toEqual([])
    await close()
  })
})
