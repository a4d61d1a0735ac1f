import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './support/chromium.ts'
import { confirmByName } from './support/confirm.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
describe.skipIf(!hasChromium)('a tenant in the dashboard', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it('makes a DKIM key, publishes its record and activates it', async () => {
    const { page, close } = await world.visit(await world.jars.dashboard())
    await page.goto(`/app/domains/${world.tenant.domainId}`)
    await page.getByText('SPF went missing').waitFor()
    await page.getByRole('button', { name: 'Make a new key' }).click()
    await page.getByText('was made. Publish its record').waitFor()
    const keys = await world.tenant.get(`/api/v1/domains/${world.tenant.domainId}/dkim-keys`)
    const { selector, record_name, record_value } = keys.body.data.items.find(
      (one: { active: boolean; retired_at: string | null }) => !one.active && !one.retired_at,
    )
    await page.getByRole('button', { name: `Actions for ${selector}` }).click()
    await page.getByRole('menuitem', { name: 'Activate' }).click()
    const dialog = page.getByRole('dialog', { name: `Sign with ${selector}?` })
    await dialog.getByRole('button', { name: 'Activate' }).click()
    await dialog.getByText('is not visible in DNS yet').waitFor()
    world.dns.state.records[record_name] = { TXT: [record_value] }
    await dialog.getByRole('button', { name: 'Activate' }).click()
    await page.getByText(`Mail is signed with ${selector} from now on`).waitFor()
    await page.getByRole('row', { name: new RegExp(`${selector}.*Signs mail`, 's') }).waitFor()
    await close()
  })

  it('makes a template from the library, changes it, sends a test and restores a version', async () => {
    const { page, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/templates')
    await page.getByRole('button', { name: 'Add template' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Greeting')
    await dialog.getByLabel('Start from').selectOption('welcome')
    await dialog.getByRole('button', { name: 'Add template' }).click()
    await page.getByRole('heading', { name: 'Greeting' }).waitFor()
    const text = page.getByLabel('HTML or MJML')
    await text.fill('<p>{% if name %}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('not closed').waitFor()
    await text.fill('<p>Hello {{ name }}, <a href="{{ link }}">look</a></p>')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('has no filter url').waitFor()
    await page.getByLabel('From', { exact: true }).fill(`orders@${world.tenant.domain}`)
    await page.getByLabel('To', { exact: true }).fill('jane@elsewhere.test')
    await page.getByRole('button', { name: 'Send test message' }).click()
    await page.getByText('on its way to jane@elsewhere.test').waitFor()
    await page.getByRole('button', { name: 'Changes 2' }).click()
    const changes = page.getByRole('dialog', { name: 'Version 2 compared with 1' })
    await changes.getByText('+ <p>Hello {{ name }}').waitFor()
    await changes.getByText('- <mjml>').waitFor()
    await changes.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Restore 1' }).click()
    await page.getByText('Version 1 is restored').waitFor()
    await page.getByRole('cell', { name: '3', exact: true }).waitFor()
    await expect.poll(() => text.inputValue()).toContain('<mjml>')
    await close()
  })

  it('opens a webhook dead letter, sees its payload and sends it again', async () => {
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/webhooks')
    await page.getByRole('link', { name: 'Dead letters' }).click()
    const row = page.getByRole('row', { name: /email\.bounced/ })
    await row.getByRole('button', { name: 'Details' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('"<one@acme.test>"').waitFor()
    await dialog.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('cell', { name: 'Being sent again' }).waitFor()
    await page.goto('/app/webhooks/deliveries')
    await row.getByRole('button', { name: 'Details' }).first().click()
    await page.getByRole('dialog').getByText('"<one@acme.test>"').waitFor()
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(problems()).toEqual([])
    await close()
  })

  it('adds many mailboxes at once and sees why one was not added', async () => {
    const { page, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/mailboxes')
    await page.getByRole('button', { name: 'Add many' }).click()
    const dialog = page.getByRole('dialog')
    const lines = ['team-1@acme.test, One', 'team-2@acme.test', 'person-0@acme.test']
    await dialog.getByLabel('One mailbox in each line').fill(lines.join('\n'))
    await dialog.getByRole('button', { name: 'Add mailboxes' }).click()
    await dialog.getByText('2 mailboxes were added.').waitFor()
    await dialog.getByText('Email account person-0@acme.test already exists').waitFor()
    const { body } = await world.tenant.get('/api/v1/mailboxes/email-accounts?q=team-')
    expect(body.data.pagination.total).toBe(2)
    await close()
  })

  it('sees what waits of its own mail and deletes a message with a reason', async () => {
    const deleted: string[] = []
    const { mailQueue } = world.app.core
    mailQueue.delete = async (id) => {
      deleted.push(id)
      return true
    }
    const read = { recipients: ['a@elsewhere.test'], headers: [], truncated: false }
    mailQueue.headers = async () => ({ sender: 'news@acme.test', ...read })
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await page.goto('/app/waiting')
    const row = page.getByRole('row', { name: /news@acme\.test/ })
    await row.getByText('Connection timed out').waitFor()
    expect(await page.getByRole('row').count(), 'the heading and one message').toBe(2)
    await row.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('A typo in the address')
    await confirmByName(dialog, 'Delete')
    await page.getByText('The message was deleted').waitFor()
    expect(deleted).toEqual(['4jQ0zX1c7Pz9TWb'])
    expect(problems()).toEqual([])
    await close()
  })

  it('blocks a host in mail, sees who clicked, and takes the entry back', async () => {
    const { page, problems, close } = await world.visit(await world.jars.dashboard())
    await world.app.core.db
      .insertInto('url_clicks')
      .values({
        id: '01JCLICK000000000000000000',
        organization_id: world.tenant.organizationId,
        url: 'https://203.0.113.9/<b>',
        url_domain: '203.0.113.9',
        scan_result: 'suspicious',
        reasons: ['ip_address'],
        client_network: '198.51.100.0',
        clicked_at: new Date().toISOString(),
      })
      .execute()
    await page.goto('/app/links')
    await page.getByRole('row', { name: /203\.0\.113\.9\/<b>.*Suspicious/s }).waitFor()
    await page.getByRole('button', { name: 'Add entry' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Host or address').fill('Evil.example')
    await dialog.getByRole('button', { name: 'Add entry' }).click()
    await page.getByText('evil.example is in force').waitFor()
    const row = page.getByRole('row', { name: /evil\.example.*Blocked host/s })
    await row.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('evil.example is removed').waitFor()
    const { body } = await world.tenant.get('/api/v1/url-protection/blocklist')
    expect(body.data.pagination.total).toBe(0)
    expect(problems()).toEqual([])
    await close()
  })
})
