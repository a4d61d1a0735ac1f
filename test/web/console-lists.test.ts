import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ulid } from '../../src/lib/ulid.ts'
import { hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
describe.skipIf(!hasChromium)('lists of the console', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it('show a sender that was blocked from the quarantine, and lift the block', async () => {
    await world.app.core.db
      .insertInto('blocked_senders')
      .values({
        id: ulid(),
        organization_id: world.tenant.organizationId,
        sender: 'friend@elsewhere.test',
        reason: 'Blocked by mistake',
        quarantine_id: null,
        created_by: 'op',
      })
      .execute()
    const { page, problems, close } = await world.visit(await world.jars.operator('operator'))
    await page.goto('/console/blocked-senders')
    const row = page.getByRole('row', { name: /friend@elsewhere\.test.*Blocked by mistake/s })
    await row.getByRole('button', { name: 'Unblock friend@elsewhere.test' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unblock' }).click()
    await page.getByText('friend@elsewhere.test is unblocked').waitFor()
    const left = await world.app.core.db.selectFrom('blocked_senders').select('sender').execute()
    expect(left.map(({ sender }) => sender)).not.toContain('friend@elsewhere.test')
    expect(problems()).toEqual([])
    await close()
  })

  it('offer no way to lift a block to support', async () => {
    const { page, close } = await world.visit(await world.jars.operator('support'))
    await page.goto('/console/blocked-senders')
    await page.getByRole('heading', { level: 1, name: 'Blocked senders' }).waitFor()
    expect(await page.getByRole('button', { name: /^Unblock/ }).count()).toBe(0)
    await close()
  })

  it('show deleted mailboxes with the reason that their mail is still there', async () => {
    await world.app.core.db
      .insertInto('deleted_mailboxes')
      .values({
        id: ulid(),
        organization_id: world.tenant.organizationId,
        email: 'left@acme.test',
        attempts: 3,
        error_message: 'Connection refused',
      })
      .execute()
    const { page, problems, close } = await world.visit(await world.jars.operator('support'))
    await page.goto('/console/deleted-mailboxes')
    await page.getByRole('row', { name: /left@acme\.test.*3.*Connection refused/s }).waitFor()
    expect(problems()).toEqual([])
    await close()
  })

  it('show what could not be provisioned, and try it again with a reason', async () => {
    const { page, close } = await world.visit(await world.jars.operator('operator'))
    const failure = {
      resource_type: 'mailbox',
      id: '01JMAILBOX',
      name: 'stuck@acme.test',
      organization_id: world.tenant.organizationId,
      organization_name: 'Acme',
      status: 'failed',
      error: 'The mail host is away',
      attempts: 5,
      created_at: '2026-11-01T00:00:00.000Z',
      updated_at: '2026-11-01T01:00:00.000Z',
    }
    const success = (data: object) => ({ json: { type: 'success', msg: 'OK', data } })
    const pagination = { page: 1, per_page: 25, total: 1, total_pages: 1 }
    await page.route('**/provisioning-failures?*', (route) =>
      route.fulfill(success({ items: [failure], pagination })),
    )
    const sent: (string | null)[] = []
    await page.route('**/provisioning-failures/mailbox/01JMAILBOX/retry', (route) => {
      sent.push(route.request().postData())
      return route.fulfill(
        success({ resource_type: 'mailbox', id: '01JMAILBOX', status: 'pending' }),
      )
    })
    await page.goto('/console/provisioning-failures')
    const row = page.getByRole('row', { name: /stuck@acme\.test.*The mail host is away/s })
    await row.getByRole('button', { name: 'Try again stuck@acme.test' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('The host is back')
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('stuck@acme.test is tried again').waitFor()
    expect(sent).toEqual([JSON.stringify({ reason: 'The host is back' })])
    await close()
  })

  it('show uploads of the archive that wait, and damaged messages', async () => {
    const { page, problems, close } = await world.visit(await world.jars.operator('support'))
    await page.route('**/api/v1/archive/spool', async (route) => {
      const answer = await route.fetch()
      const body = await answer.json()
      body.data.spools = [
        {
          spool_id: 'one',
          host: 'mail-1',
          messages: 17,
          bytes: 4096,
          oldest_at: null,
          failures: 0,
          problem: 'The bucket is away',
          problem_since: null,
          seen_at: '2026-11-01T01:00:00.000Z',
        },
      ]
      body.data.last_check = {
        begun_at: '2026-11-01T01:00:00.000Z',
        finished_at: null,
        checked: 12,
        damaged: 2,
      }
      return route.fulfill({ response: answer, json: body })
    })
    await page.goto('/console/archive')
    await page.getByRole('row', { name: /mail-1.*17.*The bucket is away/s }).waitFor()
    await page.getByText('12 messages checked').waitFor()
    expect(problems()).toEqual([])
    await close()
  })

  it('say that a long queue is listed in part', async () => {
    const { page, close } = await world.visit(await world.jars.operator('support'))
    await page.route('**/api/v1/queue/queue/status', async (route) => {
      const answer = await route.fetch()
      const body = await answer.json()
      body.data.total = 1234
      return route.fulfill({ response: answer, json: body })
    })
    await page.goto('/console/queue')
    await page.getByText('The first 1,000 of 1,234 messages are listed').waitFor()
    await close()
  })
})
