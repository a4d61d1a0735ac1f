import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOSTILE } from '../support/hostile-rows.ts'
import { hasChromium, type Visitor } from './support/chromium.ts'
import { confirmByName } from './support/confirm.ts'
import { screensOf } from './support/screens.ts'
import { addressOf } from './support/seed.ts'
import { startWorld, type World } from './support/world.ts'

// Names of at most 100 characters, with the beginning of the text.
const SHORT = 'h0stile "\'\u202e<img src=x onerror=alert(1)>'
const SHORT_NAMES = ['api_keys.name', 'app_passwords.name', 'oauth_clients.name']

/** Everything that tenants, holders of mailboxes and strangers name, as far as a screen shows it. */
const NAMES = `organizations.name
  dashboard_users.full_name operators.full_name email_accounts.name shared_mailboxes.name
  smtp_credentials.name webhook_endpoints.name webhook_dead_letters.last_error
  transport_rules.name suppressions.reason sessions.user_agent
  mail_log.subject mail_log.sender mail_log.bounce_reason tracking_events.url
  quarantine.subject quarantine.sender quarantine.virus_name
  failed_auth_attempts.username dlp_policies.name dlp_violations.sender dlp_violations.recipient
  ip_access_rules.description feedback_loops.subject feedback_loops.sender feedback_loops.isp_name
  alert_rules.name alert_rules.description alert_channels.name alert_events.rule_name
  alert_events.message backup_runs.error_message backup_runs.hostname certificates.error_message
  legal_holds.name service_health.error`.split(/\s+/)
/** Values of fields, and texts of dialogs. */
const IN_FIELDS = `organizations.description domains.description webhook_endpoints.description
  webhook_deliveries.error_message transport_rules.description data_exports.requested_by`.split(
  /\s+/,
)

const SURFACES = { dashboard: 'dashboard', console: 'operator', mailbox: 'mailbox' } as const
const MARKUP = '<img src=x onerror=alert(1)>'
// Code for the page is text: the tests are compiled without the types of a browser.
const SHOWN = `(() => {
  const body = document.body.cloneNode(true)
  // The text of a field is sent back as it is.
  for (const field of body.querySelectorAll('textarea')) field.remove()
  return {
    text: body.textContent,
    elements: document.querySelectorAll('img[src=x], [onerror], [onload], body script, main style').length,
    hacked: window.hacked !== undefined,
  }
})()`

let world: World
const seen = new Set<string>()
describe.skipIf(!hasChromium)('hostile names', () => {
  beforeAll(async () => {
    world = await startWorld()
    for (const column of [...NAMES, ...IN_FIELDS]) await rename(column, HOSTILE)
    for (const column of SHORT_NAMES) await rename(column, SHORT)
  })
  afterAll(() => world?.stop())

  it.each(Object.entries(SURFACES))('are only text on the surface %s', async (folder, kind) => {
    const guest = await world.visit(await world.jars[kind]())
    const dialogs: string[] = []
    guest.page.on('dialog', (dialog) => {
      dialogs.push(`${guest.page.url()}: ${dialog.message()}`)
      void dialog.dismiss()
    })
    const found: string[] = []
    const look = async () =>
      found.push(...(await wrongWith(guest)).map((problem) => `${guest.page.url()}: ${problem}`))
    const screens = await screensOf(folder as keyof typeof SURFACES)
    for (const [index, { path, capability }] of screens.entries()) {
      // Mail needs a mail server: webmail.test.ts opens its screens.
      if (capability === 'mail') continue
      const address = addressOf(path, world.samples)
      if (index === 0) {
        await guest.page.goto(address)
        await guest.settled()
      } else {
        await guest.follow(address)
      }
      await look()
    }
    if (folder === 'mailbox') await inDialog(guest, look)
    expect(found).toEqual([])
    expect(dialogs).toEqual([])
    await guest.close()
  })

  it('were all on a screen', () => {
    expect([...NAMES, ...SHORT_NAMES].filter((column) => !seen.has(column))).toEqual([])
  })
})

/** Gives every row a hostile name that begins with the name of its column. */
async function rename(column: string, text: string): Promise<void> {
  const [table = '', name = ''] = column.split('.')
  const value = `⟦${column}⟧ ${text}`
  // A number at the end, because some names are unique.
  const { numAffectedRows = 0n } = await sql`
    update ${sql.id(table)} set ${sql.id(name)} = ${value} || ctid::text
  `.execute(world.app.core.db)
  expect(numAffectedRows, `${column} of test/web/support/seed.ts`).toBeGreaterThan(0n)
}

/** Names in the title of a dialog, and in the message after it. */
async function inDialog({ page, follow }: Visitor, look: () => Promise<unknown>): Promise<void> {
  await follow('/mailbox/app-passwords')
  await page
    .getByRole('button', { name: /^Revoke/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: /^Revoke “⟦app_passwords.name⟧/ }).waitFor()
  await look()
  await confirmByName(dialog, 'Revoke')
  await page.getByText(/⟦app_passwords.name⟧.*is revoked/).waitFor()
  await look()
}

async function wrongWith(guest: Visitor): Promise<string[]> {
  const { text, elements, hacked } = (await guest.page.evaluate(SHOWN)) as {
    text: string
    elements: number
    hacked: boolean
  }
  for (const [, column = ''] of text.matchAll(/⟦(.*?)⟧/g)) seen.add(column)
  return [
    ...(count(text, 'h0stile') === count(text, MARKUP) ? [] : ['the text is not shown as stored']),
    ...(/[\u0001\u001b\u202e\u2028\ufeff]/.test(text) ? ['shows characters without a shape'] : []),
    ...(elements === 0 ? [] : ['the text became elements']),
    ...(hacked ? ['the text ran as code'] : []),
    ...guest.problems().map((problem) => `console: ${problem}`),
    ...guest.foreign.splice(0).map((url) => `request to another host: ${url}`),
  ]
}

const count = (text: string, part: string) => text.split(part).length - 1
