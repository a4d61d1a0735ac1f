import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { type Doveadm, startDoveadm } from '../../../../test/support/doveadm.ts'
import { waitFor } from '../../../../test/support/wait.ts'

const FAILURES = '/api/v1/platform/provisioning-failures'
const REASON = { reason: 'the disk has room again' }
let app: App
let dovecot: Doveadm
let support: Awaited<ReturnType<App['operator']>>
let operator: typeof support
let acme: Awaited<ReturnType<App['tenant']>>

beforeAll(async () => {
  dovecot = await startDoveadm('key')
  app = await startApp({ env: { DOVEADM_URL: dovecot.url, DOVEADM_API_KEY: 'key' } })
  support = await app.operator('support')
  operator = await app.operator('operator')
  dovecot.status.set('admin@acme.test', { messages: 0, vsize: 0 })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  await dovecot.stop()
})
afterEach(() => {
  dovecot.state.mood = 'well'
})

const pending = async (id: string) =>
  app.core.db
    .selectFrom('provisioning')
    .selectAll()
    .where('resource_id', '=', id)
    .executeTakeFirst()

let count = 0
async function mailbox() {
  const email = `user${++count}@${acme.domain}`
  const body = { email, password: 'a-long-passphrase-1' }
  const made = await acme.post('/api/v1/mailboxes/email-accounts', body)
  expect(made.status).toBe(201)
  return { id: made.body.data.id as string, email }
}

const failures = async (query = '') => {
  const answer = await support.get(`${FAILURES}?${query}`)
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Provisioning failures retrieved' } })
  return answer.body.data.items as { id: string; resource_type: string }[]
}
const waitForFailure = (id: string) =>
  waitFor(async () => (await failures()).find((failure) => failure.id === id))

describe('provisioning', () => {
  it('removes the entry when Dovecot can open the mailbox', async () => {
    const email = `known@${acme.domain}`
    dovecot.status.set(email, { messages: 0, vsize: 0 })
    const body = { email, password: 'a-long-passphrase-1' }
    const { id } = (await acme.post('/api/v1/mailboxes/email-accounts', body)).body.data
    await waitFor(async () => (await pending(id)) === undefined)
    expect(await failures()).toEqual([])
  })

  it('lists an entry after three failures and provisions it after a retry', async () => {
    const { id, email } = await mailbox()
    expect(await waitForFailure(id)).toMatchObject({
      resource_type: 'mailbox',
      name: email,
      organization_id: acme.organizationId,
      organization_name: expect.any(String),
      status: 'failed',
      error: expect.stringContaining('67'),
      attempts: 3,
    })
    dovecot.status.set(email, { messages: 0, vsize: 0 })
    const path = `${FAILURES}/mailbox/${id}/retry`
    expect((await operator.post(path, {})).status).toBe(422)
    expect((await support.post(path, REASON)).status).toBe(403)
    const [one, other] = await Promise.all([
      operator.post(path, REASON),
      operator.post(path, REASON),
    ])
    expect([one.status, other.status].sort()).toEqual([200, 409])
    const done = one.status === 200 ? one : other
    expect(done.body).toMatchObject({
      msg: 'Provisioning retry queued',
      data: { resource_type: 'mailbox', id, status: 'pending' },
    })
    await waitFor(async () => (await pending(id)) === undefined)
    expect(await failures()).toEqual([])
  })

  it('counts no attempt while the mail server does not respond', async () => {
    dovecot.state.mood = 'wrong key'
    const { id, email } = await mailbox()
    await waitFor(async () => dovecot.asked.at(-1)?.commands.at(0)?.[1].user === email)
    expect(await pending(id)).toMatchObject({ status: 'pending', attempts: 0 })
    dovecot.status.set(email, { messages: 0, vsize: 0 })
    dovecot.state.mood = 'well'
    await waitFor(async () => (await pending(id)) === undefined)
  })

  it('removes the entry of a deleted mailbox', async () => {
    const { id } = await mailbox()
    await waitForFailure(id)
    await acme.delete(`/api/v1/mailboxes/email-accounts/${id}`)
    expect(await pending(id)).toBeUndefined()
    expect((await operator.post(`${FAILURES}/mailbox/${id}/retry`, REASON)).status).toBe(404)
  })

  it('filters failures, and returns 404 for unknown and 409 for not failed resources', async () => {
    const { id } = await mailbox()
    await waitForFailure(id)
    expect(await failures('resource_type=domain')).toEqual([])
    expect(
      await failures(`organization_id=${acme.organizationId}&resource_type=mailbox`),
    ).toHaveLength(1)
    expect(await failures('organization_id=nobody')).toEqual([])
    expect((await support.get(`${FAILURES}?resource_type=alias`)).status).toBe(422)
    const retry = (path: string) => operator.post(`${FAILURES}/${path}/retry`, REASON)
    expect((await retry('alias/x')).status).toBe(422)
    expect((await retry('mailbox/unknown')).body.msg).toBe('Resource not found')
    expect(await retry(`domain/${acme.domainId}`)).toMatchObject({
      status: 409,
      body: { msg: 'Resource is not in a failed provisioning state' },
    })
  })
})
