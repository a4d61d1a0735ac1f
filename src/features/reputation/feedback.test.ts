import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { insertFeedback } from '../../hosting/feedback.repository.ts'
import { ulid } from '../../lib/ulid.ts'
import { markByCommand } from './feedback.command.ts'

const BASE = '/api/v1/reputation/feedback-loops'
const WHY = { reason: 'Found by the Message-ID and removed' }

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
let id: string
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  operator = await app.operator('operator')
  await app.core.db.transaction().execute((tx) =>
    insertFeedback(
      tx,
      {
        organization_id: acme.organizationId,
        original_recipient: '',
        complaint_recipient: null,
        isp_name: 'isp.test',
        feedback_type: 'abuse',
        email_id: '1@acme.test',
        subject: null,
        sender: 'news@acme.test',
        sender_domain: 'acme.test',
        digest: null,
        processed: false,
        suppression_added: false,
      },
      new Date('2026-06-01T10:00:00Z'),
    ),
  )
  id = (await operator.get(`${BASE}?processed=false`)).body.data.items[0].id
})
afterAll(() => app.stop())

const open = async () => (await operator.get(`${BASE}?processed=false`)).body.data.pagination.total
const trail = () =>
  app.core.db
    .selectFrom('operator_audit')
    .select(['operator_email', 'organization_id', 'request_body'])
    .where('action', '=', 'update_feedback_loop')
    .where('target_id', '=', id)
    .where('result', '=', 'success')
    .orderBy('id')
    .execute()

it('a report is marked as processed and opened again, with audit rows (B8)', async () => {
  const answer = await operator.put(`${BASE}/${id}`, { processed: true, ...WHY })
  expect(answer).toMatchObject({
    status: 200,
    body: {
      msg: 'Feedback report processed',
      data: { id, processed: true, processed_at: expect.any(String), suppression_added: false },
    },
  })
  expect(await open()).toBe(0)
  const again = await operator.put(`${BASE}/${id}`, { processed: true, ...WHY })
  expect(again.body.data.processed_at).toBe(answer.body.data.processed_at)
  const opened = await operator.put(`${BASE}/${id}`, { processed: false, ...WHY })
  expect(opened.body.data).toMatchObject({ processed: false, processed_at: null })
  expect(await open()).toBe(1)
  const organization_id = acme.organizationId
  const row = (processed: boolean) => ({
    operator_email: operator.email,
    organization_id,
    request_body: { processed, ...WHY },
  })
  expect(await trail()).toEqual([row(true), row(true), row(false)])
})

it('the command leaves an audit row too', async () => {
  const decision = { id, processed: true, reason: 'by command' }
  expect(await markByCommand(app.core.db, decision, new Date())).toMatchObject({ processed: true })
  expect((await trail()).at(-1)).toEqual({
    operator_email: null,
    organization_id: acme.organizationId,
    request_body: { processed: true, reason: 'by command', command_line: true },
  })
  expect(await markByCommand(app.core.db, { ...decision, id: ulid() }, new Date())).toBeUndefined()
})

it('a report is marked by an operator, with a reason, if it exists', async () => {
  const body = { processed: true, ...WHY }
  expect((await acme.put(`${BASE}/${id}`, body)).status).toBe(403)
  expect((await (await app.operator('support')).put(`${BASE}/${id}`, body)).status).toBe(403)
  expect((await operator.put(`${BASE}/${id}`, { processed: true })).status).toBe(422)
  expect((await operator.put(`${BASE}/${id}`, { processed: true, reason: '  ' })).status).toBe(422)
  expect((await operator.put(`${BASE}/${id}`, { ...WHY })).status).toBe(422)
  expect(await operator.put(`${BASE}/${ulid()}`, body)).toMatchObject({
    status: 404,
    body: { msg: 'Feedback report not found' },
  })
})
