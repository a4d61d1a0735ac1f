import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSink } from '../support/smtp-sink.ts'
import { axe, hasChromium, type Visitor } from './support/chromium.ts'
import { startEmptyWorld } from './support/world.ts'

const PASSWORD = 'a-long-passphrase-1'
const pictures = process.env.MAILPLANE_SCREENS

let world: Awaited<ReturnType<typeof startEmptyWorld>>
let sink: Awaited<ReturnType<typeof startSink>>
describe.skipIf(!hasChromium)('the first run', () => {
  beforeAll(async () => {
    sink = await startSink()
    world = await startEmptyWorld({ SMTP_HOST: '127.0.0.1', SMTP_PORT: String(sink.port) })
  })
  afterAll(async () => {
    await world?.stop()
    await sink?.stop()
  })

  it('leads a person from the empty server to the first mailbox', async () => {
    const guest = await world.visit()
    const { page } = guest
    const tokenFile = (name: string) => join(world.app.dataDir, name)
    const token = (name: string) => readFileSync(tokenFile(name), 'utf8').trim()

    await page.goto('/')
    await page.getByRole('heading', { name: 'Create your organization' }).waitFor()
    await page.getByText(tokenFile('bootstrap-token'), { exact: true }).waitFor()
    await inOrder(guest, '1-organization')
    await page.getByLabel('Setup token').fill('wrong')
    await page.getByLabel('Name of the organization').fill('Acme Mail')
    await page.getByLabel('Your email address').fill('admin@acme.test')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create organization' }).click()
    await page.getByRole('alert').getByText('Invalid bootstrap token').waitFor()
    guest.problems()
    await page.getByLabel('Setup token').fill(token('bootstrap-token'))
    await page.getByRole('button', { name: 'Create organization' }).click()
    const key = page.getByRole('dialog', { name: 'API key of the organization' })
    await key.getByLabel('I have stored it').check()
    await inOrder(guest, '2-key')
    await key.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('heading', { name: 'Create the operator' }).waitFor()
    await inOrder(guest, '3-operator')
    await page.getByLabel('Setup token').fill(token('operator-bootstrap-token'))
    await page.getByLabel('Full name').fill('Olga Operator')
    await page.getByLabel('Email address of the operator').fill('olga@ops.test')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create operator' }).click()
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    await inOrder(guest, '4-second-factor')
    const secret = ((await page.locator('.enrol code').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('I have stored them').check()
    await page.getByLabel('Code', { exact: true }).fill(world.app.code(secret))
    await page.getByRole('button', { name: 'Turn on' }).click()

    await page.getByRole('heading', { name: 'Publish the records of acme.test' }).waitFor()
    await page.getByText('Missing').first().waitFor()
    await inOrder(guest, '5-dns')
    await page.getByRole('button', { name: 'Continue' }).click()

    await page.getByLabel('Address').fill('jane')
    await page.getByLabel('Password').fill(PASSWORD)
    await inOrder(guest, '6-mailbox')
    await page.getByRole('button', { name: 'Add mailbox' }).click()
    await page.getByRole('heading', { name: 'Mailplane is ready' }).waitFor()
    await page.getByRole('button', { name: 'Send a test message' }).click()
    await page.getByText('The message is on its way to jane@acme.test').waitFor()
    await inOrder(guest, '7-on-its-way')
    await logDelivery()
    await page.getByText('The message arrived at jane@acme.test').waitFor()
    await inOrder(guest, '8-done')

    await page.getByRole('link', { name: 'Open the dashboard' }).click()
    await page.getByRole('link', { name: 'Mailboxes' }).first().click()
    await page.getByRole('link', { name: 'jane@acme.test' }).waitFor()
    await page.goto('/console')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto('/')
    await page.getByRole('heading', { name: 'Sign in to Mailplane' }).waitFor()
    expect(guest.foreign).toEqual([])
    await guest.close()
  })
})

/** The log lines that the mail servers would write about the test message. */
async function logDelivery(): Promise<void> {
  const [message] = sink.to('jane@acme.test')
  const messageId = /^Message-ID: (<.+>)/im.exec(message?.data ?? '')?.[1] ?? ''
  const { db } = world.app.core
  const { id } = await db.selectFrom('organizations').select('id').executeTakeFirstOrThrow()
  await db
    .insertInto('mail_log')
    .values({
      id: 'first-test',
      timestamp: world.app.clock.now().toISOString(),
      organization_id: id,
      sender: message?.from ?? '',
      recipient: 'jane@acme.test',
      message_id: messageId,
      status: 'delivered',
    })
    .execute()
}

async function inOrder({ page, problems }: Visitor, name: string): Promise<void> {
  if (pictures) {
    mkdirSync(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, `setup-${name}.png`), fullPage: true })
  }
  expect([...(await axe(page)), ...problems()], name).toEqual([])
}
