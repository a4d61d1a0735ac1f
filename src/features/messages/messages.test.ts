import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { quarantineService } from '../message-trace/quarantine.service.ts'

const PATH = '/api/v1/messages/'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let heldId: string

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  const sent = {
    organization_id: acme.organizationId,
    sender: 'shop@acme.test',
    recipient: 'jane@far.test',
    sasl_username: 'shop@acme.test',
    subject: 'Your order',
    message_id: '<order@acme.test>',
  }
  await app.core.db
    .insertInto('mail_log')
    .values([
      {
        ...sent,
        id: 'a-deferred',
        timestamp: '2024-01-10T10:00:00Z',
        status: 'deferred',
        bounce_reason: 'Greylisted',
        superseded: true,
      },
      { ...sent, id: 'b-delivered', timestamp: '2024-01-10T10:05:00Z', status: 'delivered' },
      {
        ...sent,
        id: 'c-bounced',
        timestamp: '2024-01-10T10:05:00.000001Z',
        status: 'bounced',
        recipient: 'bob@far.test',
      },
      {
        ...sent,
        id: 'd-received',
        timestamp: '2024-01-10T10:05:00.000001Z',
        status: 'delivered',
        sender: 'jane@far.test',
        recipient: 'shop@acme.test',
        sasl_username: null,
        subject: 'Re: Your order',
        message_id: '<reply@far.test>',
      },
      {
        ...sent,
        id: 'e-globex',
        timestamp: '2024-01-11T00:00:00Z',
        organization_id: globex.organizationId,
        status: 'delivered',
        recipient: 'anna@globex.test',
        sasl_username: null,
        subject: 'For globex only',
      },
      {
        ...sent,
        id: 'f-nobody',
        timestamp: '2024-01-11T00:00:00Z',
        organization_id: null,
        status: 'rejected',
        sasl_username: null,
      },
    ])
    .execute()
  heldId = await app.core.db.transaction().execute((tx) =>
    quarantineService(app.core).hold(tx, {
      organization_id: acme.organizationId,
      message_id: '<cheap@far.test>',
      queue_id: null,
      sender: 'offers@far.test',
      recipient: 'shop@acme.test',
      subject: 'Cheap watches',
      reason: 'spam',
      headers: {},
      content: Buffer.from('Subject: Cheap watches\r\n\r\nHello\r\n'),
    }),
  )
  await app.core.db
    .updateTable('quarantine')
    .set({ created_at: '2024-01-12T00:00:00Z' })
    .where('id', '=', heldId)
    .execute()
})
afterAll(() => app.stop())

const pageOf = async (query: string, client: Pick<typeof acme, 'get'> = acme) => {
  const { status, body } = await client.get(`${PATH}?${query}`)
  expect(body).toMatchObject({ type: 'success', msg: 'Messages retrieved' })
  expect(status).toBe(200)
  return body.data as { messages: { id: string }[]; next_cursor: string | null }
}
const found = async (query: string, client?: Pick<typeof acme, 'get'>) =>
  (await pageOf(query, client)).messages.map(({ id }) => (id === heldId ? 'held' : id))

describe('GET /messages/', () => {
  it('lists own messages with their last state, newest first', async () => {
    expect(await found('')).toEqual(['held', 'd-received', 'c-bounced', 'b-delivered'])
    expect(await found('', globex)).toEqual(['e-globex'])
  })

  it('returns what became of a message, without the id in the quarantine', async () => {
    const { messages } = await pageOf('recipient=bob@far.test')
    expect(messages).toEqual([
      {
        id: 'c-bounced',
        timestamp: '2024-01-10T10:05:00.000Z',
        direction: 'outbound',
        sender: 'shop@acme.test',
        recipient: 'bob@far.test',
        subject: 'Your order',
        status: 'bounced',
        message_id: '<order@acme.test>',
        size: null,
        relay: null,
        dsn: null,
        spam_score: null,
        bounce_reason: null,
        queue_id: null,
        login: 'shop@acme.test',
        credential_id: null,
      },
    ])
    const [held] = (await pageOf('status=held')).messages
    expect(held).toMatchObject({ status: 'held', direction: 'inbound' })
    expect(held).not.toHaveProperty('quarantine_id')
  })

  it.each([
    ['sender=jane@far.test', ['d-received']],
    ['recipient=JANE', ['b-delivered']],
    ['subject=re:', ['d-received']],
    ['status=bounced', ['c-bounced']],
    ['status=deferred', []],
    ['direction=outbound', ['c-bounced', 'b-delivered']],
    ['direction=inbound', ['held', 'd-received']],
    ['message_id=order@acme.test', ['c-bounced', 'b-delivered']],
    ['start_date=2024-01-11', ['held']],
    ['end_date=2024-01-10', ['d-received', 'c-bounced', 'b-delivered']],
    ['subject=globex', []],
  ])('filters by %s', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  it('ignores the organization that a tenant sends, and narrows for the platform', async () => {
    expect(await found(`organization_id=${globex.organizationId}`)).not.toContain('e-globex')
    const operator = await app.operator('support')
    expect(await found(`organization_id=${globex.organizationId}`, operator)).toEqual(['e-globex'])
    expect(await found('', operator)).toEqual(
      expect.arrayContaining(['e-globex', 'b-delivered', 'f-nobody']),
    )
  })

  it('pages with a cursor, also between rows of the same microsecond', async () => {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await pageOf(`limit=1${cursor && `&cursor=${cursor}`}`)
      seen.push(...page.messages.map(({ id }) => (id === heldId ? 'held' : id)))
      cursor = page.next_cursor
      expect(seen.length).toBeLessThan(6)
    }
    expect(seen).toEqual(['held', 'd-received', 'c-bounced', 'b-delivered'])
    expect((await pageOf('limit=4')).next_cursor).toBeNull()
  })

  it('keeps the place of a page when new mail arrives', async () => {
    const { next_cursor } = await pageOf('limit=2')
    await app.core.db
      .insertInto('mail_log')
      .values({
        id: 'z-new',
        timestamp: '2024-02-01T00:00:00Z',
        organization_id: acme.organizationId,
        status: 'delivered',
      })
      .execute()
    const rest = await found(`limit=2&cursor=${next_cursor}`)
    await app.core.db.deleteFrom('mail_log').where('id', '=', 'z-new').execute()
    expect(rest).toEqual(['c-bounced', 'b-delivered'])
  })

  it.each([
    ['cursor=', 'cursor must be the next_cursor of an answer of this list'],
    ['cursor=bm90IGEgY3Vyc29y', 'cursor must be the next_cursor of an answer of this list'],
    [
      `cursor=${Buffer.from('1704880000000000.a\0b').toString('base64url')}`,
      'cursor must be the next_cursor of an answer of this list',
    ],
    [
      `cursor=${Buffer.from('9999999999999999.a').toString('base64url')}`,
      'cursor must be the next_cursor of an answer of this list',
    ],
    ['limit=201', 'limit must be at most 200'],
    ['status=sent', 'status must be one of delivered, bounced, deferred, rejected, held'],
    ['direction=up', 'direction must be one of outbound, inbound'],
    ['start_date=yesterday', 'start_date/end_date must be ISO dates or datetimes'],
  ])('refuses the query %s', async (query, msg) => {
    expect(await acme.get(`${PATH}?${query}`)).toMatchObject({ status: 422, body: { msg } })
  })
})

describe('GET /messages/{message_id}', () => {
  const timeline = (client: Pick<typeof acme, 'get'>, id: string) =>
    client.get(PATH + encodeURIComponent(id))

  it('lists every attempt of a message, oldest first', async () => {
    const { status, body } = await timeline(acme, 'order@acme.test')
    expect(status).toBe(200)
    expect(body.data.message_id).toBe('<order@acme.test>')
    expect(body.data.deliveries.map(({ id }: { id: string }) => id)).toEqual([
      'a-deferred',
      'b-delivered',
      'c-bounced',
    ])
    expect(body.data.decisions).toEqual([])
  })

  it('shows each organization its own part of a message with the same Message-ID', async () => {
    const { body } = await timeline(globex, '<order@acme.test>')
    expect(body.data.deliveries.map(({ id }: { id: string }) => id)).toEqual(['e-globex'])
  })

  it('does not find a message of another organization', async () => {
    const answer = await timeline(globex, '<reply@far.test>')
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Message not found' } })
  })

  it('says what recipients did with a tracked message, to its own organization only', async () => {
    const event = (id: string, more: object = {}) => ({
      id,
      organization_id: acme.organizationId,
      domain: 'acme.test',
      email_id: 'order@acme.test',
      recipient: 'jane@far.test',
      event_type: 'opened' as const,
      created_at: '2024-01-10T11:00:00Z',
      ip_address: '192.0.2.9',
      ...more,
    })
    await app.core.db
      .insertInto('tracking_events')
      .values([
        event('t2', { event_type: 'clicked', url: 'https://shop.test/', automated: true }),
        event('t1', { created_at: '2024-01-10T10:59:00Z' }),
        event('t3', { event_type: 'delivered' }),
        event('t4', { email_id: 'other@acme.test' }),
        event('t5', { organization_id: globex.organizationId }),
      ])
      .execute()
    const { body, text } = await timeline(acme, 'order@acme.test')
    const common = { recipient: 'jane@far.test', automated: false, url: null }
    expect(body.data.engagement).toEqual([
      { ...common, id: 't1', type: 'opened', created_at: '2024-01-10T10:59:00.000Z' },
      {
        ...common,
        id: 't2',
        type: 'clicked',
        url: 'https://shop.test/',
        automated: true,
        created_at: '2024-01-10T11:00:00.000Z',
      },
    ])
    expect(text).not.toContain('192.0.2.9')
    const other = await timeline(globex, 'order@acme.test')
    expect(other.body.data.engagement.map(({ id }: { id: string }) => id)).toEqual(['t5'])
  })

  it('says what operators decided about a held message, and not who', async () => {
    const operator = await app.operator('operator', 'secret.operator@ops.test')
    const deleted = await operator.post(`/api/v1/message-trace/quarantine/${heldId}/delete`, {
      reason: 'Asked for by the recipient',
    })
    expect(deleted.status).toBe(200)
    const { body, text } = await timeline(acme, '<cheap@far.test>')
    expect(body.data).toMatchObject({
      deliveries: [{ id: heldId, status: 'deleted' }],
      decisions: [{ action: 'delete_quarantined_message' }],
    })
    expect(text).not.toContain('secret.operator')
    expect(text).not.toContain('Asked for')
  })
})
