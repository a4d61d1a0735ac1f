import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pages } from '../../src/features/pages/index.ts'
import { type App, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { beatFor } from '../support/heartbeat.ts'
import { type JmapClient, jmapClient } from '../support/jmap.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'
import { hasChromium, startChromium, visitor } from './support/chromium.ts'
import { inspected } from './support/inspect.ts'
import { REMOTE, seedMail } from './support/seed-mail.ts'

const JANE = 'jane@acme.test'
const BOB = 'bob@acme.test'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
// Colours that are still changing would be measured half-way.
const STILL = { reducedMotion: 'reduce' as const }

describe.skipIf(edgeMissing || !hasChromium)(`webmail${skipped}`, () => {
  let host: MailHost
  let app: App
  let browser: Browser
  let jane: JmapClient
  let bob: JmapClient
  let beating: ReturnType<typeof beatFor>
  let acme: Awaited<ReturnType<App['tenant']>>
  beforeAll(async () => {
    host = await startMailHost({ features: [pages()] })
    app = host.app
    acme = await app.tenant('acme')
    for (const email of [JANE, BOB]) {
      const made = await acme.post(ACCOUNTS, { email, password: PASSWORD, name: 'A holder' })
      expect(made.status, made.text).toBe(201)
    }
    jane = await jmapClient(app.base, JANE)
    bob = await jmapClient(app.base, BOB)
    await seedMail(jane)
    beating = beatFor(app, ['jmap'])
    await beating.started
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await beating?.stop()
    await host.stop()
  })

  const jarOf = async (id: string) => (await app.session('mailbox', id)).jar
  const visit = async (options = {}) =>
    visitor(browser, app.base, await jarOf(jane.accountId), options)
  const keywordsOf = async (subject: string) => {
    const { ids } = await jane.call('Email/query', { filter: { subject } })
    const { list } = await jane.call('Email/get', { ids, properties: ['keywords', 'mailboxIds'] })
    return list
  }
  const threadOf = async (subject: string) => {
    const { ids } = await jane.call('Email/query', { filter: { subject } })
    const { list } = await jane.call('Email/get', { ids, properties: ['threadId'] })
    return `/mailbox/mail/${jane.accountId}/${list[0].threadId}`
  }
  const subjectsIn = async (client: JmapClient, role: string) => {
    const filter = { inMailbox: await client.role(role) }
    const { ids } = await client.call('Email/query', { filter })
    const { list } = await client.call('Email/get', { ids, properties: ['subject'] })
    return list.map(({ subject }: { subject: string }) => subject)
  }

  it('shows screens that are in order, in both themes and on a phone', async () => {
    const guest = await visit(STILL)
    const found = [
      ...(await inspected(guest, '/mailbox/mail', 'mail-list')),
      ...(await inspected(guest, await threadOf('Lunch'), 'mail-thread')),
      ...(await inspected(guest, await threadOf('Newsletter'), 'mail-html')),
      ...(await inspected(guest, `/mailbox/mail/${jane.accountId}/Tgone`, 'mail-gone')),
      ...(await inspected(guest, '/mailbox/compose', 'mail-compose')),
    ]
    expect(found).toEqual([])
    await guest.close()
  })

  it('lists threads by page and finds messages', async () => {
    const { page, close } = await visit()
    await page.goto('/mailbox/mail')
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    // 30 messages, of which two are one conversation.
    await page.getByText('1–25 of 29').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('26–29 of 29').waitFor()
    await page.getByLabel('Search messages').fill('noon')
    await page.getByRole('link', { name: /Lunch/ }).waitFor()
    await page.getByText('1–1 of 1').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('noon')
    await page.getByLabel('Search messages').fill('nothing like this')
    await page.getByText('Nothing matches').waitFor()
    await close()
  })

  it('runs no code of a message and loads nothing from elsewhere until asked', async () => {
    const guest = await visit()
    const { page } = guest
    await page
      .context()
      .route('https://pictures.elsewhere.test/**', (route) =>
        route.fulfill({ body: PNG, contentType: 'image/png' }),
      )
    await page.goto('/mailbox/mail')
    await page.getByRole('link', { name: /Newsletter/ }).click()
    const frame = page.frameLocator('iframe.mail-frame')
    await frame.getByText('A formatted letter').waitFor()
    expect(await frame.locator('#logo').getAttribute('src')).toContain('data:image/png')
    expect(await frame.locator('form, input, script').count()).toBe(0)
    expect(guest.foreign).toEqual([])
    await page.getByText('1 picture from the internet not loaded').waitFor()
    await page.getByRole('button', { name: 'Load pictures' }).click()
    await waitFor(async () => guest.foreign.includes(REMOTE))
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(await page.locator('iframe.mail-frame').getAttribute('sandbox')).not.toMatch(
      /allow-(scripts|same-origin|forms|top)/,
    )
    await page.getByRole('button', { name: 'Plain text' }).click()
    await page.locator('.mail-text').getByText('A formatted letter').waitFor()
    await waitFor(async () => '$seen' in (await keywordsOf('Newsletter'))[0].keywords)
    expect(guest.foreign).toEqual([REMOTE])
    await guest.close()
  })

  it('shows a message to its holder only, as a page that runs nothing', async () => {
    const { ids } = await jane.call('Email/query', { filter: { subject: 'Newsletter' } })
    const [{ blobId, attachments }] = (await jane.call('Email/get', { ids })).list
    const path = `/jmap/view/${jane.accountId}/${blobId}`
    const own = await jane.get(path)
    const policy = String(own.headers['content-security-policy'])
    expect([own.status, own.text]).toEqual([200, expect.stringContaining('A formatted')])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain('sandbox')
    expect(policy).not.toMatch(/allow-(scripts|same-origin)|script-src|https:/)
    expect(own.text).not.toMatch(/<script|onload|evil\.test|elsewhere\.test\/open/)
    for (const end of ['', '/text']) {
      expect((await bob.get(`${path}${end}`)).status).toBe(404)
      expect((await app.send('GET', `${path}${end}`)).status).toBe(401)
      expect((await bob.get(`/jmap/view/${bob.accountId}/${blobId}${end}`)).status).toBe(404)
    }
    // An attached page is saved and never shown on this host.
    const file = attachments.find(({ name }: { name: string }) => name === 'evil.html')
    const saved = await jane.get(`/jmap/download/${jane.accountId}/${file.blobId}/evil.html`)
    expect(saved.headers['content-disposition']).toMatch(/^attachment/)
    expect(saved.headers['content-security-policy']).toContain('sandbox')
  })

  it('flags, moves and deletes with the keyboard and the mouse', async () => {
    const { page, close } = await visit()
    await page.goto('/mailbox/mail?q=week')
    await page.getByText('1–25 of 26').waitFor()
    await page.locator('h1').click()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('s')
    await waitFor(async () => (await keywordsOf('Weekly report 25'))[0].keywords.$flagged)
    await page.getByRole('button', { name: 'Flagged: Weekly report 25', pressed: true }).waitFor()
    await page.keyboard.press('x')
    await page.getByText('1 conversation selected').waitFor()
    await page.keyboard.press('#')
    await page.getByText('1 conversation moved to Trash').waitFor()
    await waitFor(async () => (await subjectsIn(jane, 'trash')).includes('Weekly report 25'))
    await page.getByRole('button', { name: 'Undo' }).click()
    await waitFor(async () => (await subjectsIn(jane, 'inbox')).includes('Weekly report 25'))

    await page.getByLabel('Select Weekly report 3', { exact: true }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByLabel('Select Weekly report 3', { exact: true }).check()
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click()
    await page.getByText('1 conversation deleted').waitFor()
    await waitFor(async () => (await keywordsOf('"Weekly report 3"')).length === 0)
    await close()
  })

  it('keeps a draft while it is written, with its file, and sends it', async () => {
    const { page, close } = await visit()
    await page.goto('/mailbox/compose')
    await page.getByLabel('To', { exact: true }).fill(`Bob <${BOB}>`)
    await page.getByLabel('Subject').fill('Figures')
    await page.getByLabel('Text', { exact: true }).fill('Here they are.\n')
    await page.locator('input[type=file]').setInputFiles({
      name: 'figures.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('a,b\n1,2\n'),
    })
    await page.getByText('figures.csv', { exact: true }).waitFor()
    await waitFor(async () => {
      const filter = { inMailbox: await jane.role('drafts'), hasAttachment: true }
      const { ids } = await jane.call('Email/query', { filter })
      return ids.length === 1 && page.url().endsWith(`draft=${ids[0]}`)
    })
    await page.reload()
    await page.getByText('figures.csv', { exact: true }).waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Figures')
    await page.getByLabel('Text', { exact: true }).fill('Here they are, again.\n')
    await page.getByText('Draft saved').waitFor()
    expect(await subjectsIn(jane, 'drafts')).toEqual(['Figures'])
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The message was sent').waitFor()
    const text = await host.arrived(BOB, 'Figures')
    expect(text).toContain('Here they are, again.')
    expect(text).toContain('figures.csv')
    expect(await subjectsIn(jane, 'drafts')).toEqual([])
    expect(await subjectsIn(jane, 'sent')).toEqual(['Figures'])
    await close()
  })

  it('says what is wrong with a recipient and discards a draft', async () => {
    const { page, close } = await visit()
    await page.goto('/mailbox/compose')
    await page.getByLabel('Subject').fill('Never mind')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Enter at least one recipient.').waitFor()
    await page.getByLabel('To', { exact: true }).fill('bob')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('bob is not an address').waitFor()
    await page.getByText('Draft saved').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByText('The draft was deleted').waitFor()
    expect(await subjectsIn(jane, 'drafts')).toEqual([])
    await close()
  })

  it('answers all of a conversation with a quote', async () => {
    const { page, close } = await visit()
    await page.goto('/mailbox/mail')
    await page.getByRole('link', { name: /Lunch/ }).click()
    const last = page.getByRole('article', { name: 'Bob' })
    await last.getByRole('link', { name: 'Reply to all' }).click()
    await page.getByRole('heading', { name: 'Reply' }).waitFor()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe(`Bob <${BOB}>`)
    expect(await page.getByLabel('Subject').inputValue()).toBe('Re: Lunch')
    const written = page.getByLabel('Text', { exact: true })
    expect(await written.inputValue()).toContain('Bob wrote:\n> I am in.')
    await written.press('ControlOrMeta+Home')
    await written.pressSequentially('Me too.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The message was sent').waitFor()
    const text = await host.arrived(BOB, 'Re: Lunch')
    expect(text).toContain('In-Reply-To: <lunch-2@elsewhere.test>')
    expect(text).toContain('Me too.')
    await waitFor(async () =>
      (await keywordsOf('Lunch')).some(
        ({ keywords }: { keywords: object }) => '$answered' in keywords,
      ),
    )
    await close()
  })

  it('is there only while the service for mail is', async () => {
    await beating.stop()
    const { page, close } = await visit()
    await page.goto('/mailbox')
    await page.getByRole('link', { name: 'Password', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'Messages' }).count()).toBe(0)
    await page.goto('/mailbox/mail')
    await page.getByRole('heading', { name: 'There is nothing here' }).first().waitFor()
    await close()
  })
})
