import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { rescueByCommand } from './operators.command.ts'

const OPERATORS = '/api/v1/platform/operators'
const AUTH = '/api/v1/platform/auth'
const REASON = { reason: 'forgotten' }
const NEW = 'a-new-passphrase-42'

let app: App
let owner: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  owner = await app.operator('owner')
})
afterAll(() => app.stop())

const login = (email: string, password = PASSWORD, from = newIp()) =>
  app.send('POST', `${AUTH}/login`, { body: { email, password }, from })
const accept = (link: string) =>
  app.send('POST', '/api/v1/auth/links/accept', {
    body: { token: link.split('#')[1], password: NEW },
  })
const eventsOf = async (operatorId: string) => {
  const rows = await app.core.db.selectFrom('events').select(['event', 'data']).execute()
  return rows
    .filter(({ data }) => (data as { operator_id?: string }).operator_id === operatorId)
    .map(({ event }) => event)
}

describe('the password of an operator (B3.3)', () => {
  it('is changed with the old one, which ends the other sessions', async () => {
    const operator = await app.operator('support')
    const elsewhere = await app.session('operator', operator.id)
    const change = { current_password: PASSWORD, new_password: NEW }
    const wrong = await operator.post(`${AUTH}/password`, { ...change, current_password: 'wrong' })
    expect(wrong).toMatchObject({ status: 401, body: { msg: 'Invalid email or password' } })
    const weak = await operator.post(`${AUTH}/password`, { ...change, new_password: 'short' })
    expect(weak.status).toBe(422)
    expect((await operator.post(`${AUTH}/password`, change)).status).toBe(200)
    expect((await operator.get(`${AUTH}/me`)).status).toBe(200)
    expect((await elsewhere.get(`${AUTH}/me`)).status).toBe(401)
    expect((await login(operator.email)).status).toBe(401)
    expect((await login(operator.email, NEW)).status).toBe(200)
    expect(await eventsOf(operator.id)).toEqual(['operator.password.changed'])
    const audit = await app.core.db
      .selectFrom('operator_audit')
      .select(['request_body', 'result'])
      .where('action', '=', 'change_operator_password')
      .where('operator_id', '=', operator.id)
      .execute()
    expect(JSON.stringify(audit)).not.toContain(NEW)
    expect(audit.map(({ result }) => result)).toContain('success')
  })

  it('is reset by an owner with a link that works once', async () => {
    const operator = await app.operator('admin')
    const path = `${OPERATORS}/${operator.id}/password-reset`
    expect((await operator.post(path, { reason: 'mine' })).status).toBe(403)
    expect((await owner.post(`${OPERATORS}/${owner.id}/password-reset`, REASON)).status).toBe(403)
    expect((await owner.post(`${OPERATORS}/none/password-reset`, REASON)).status).toBe(404)
    const { body } = await owner.post(path, REASON)
    expect((await operator.get(`${AUTH}/me`)).status).toBe(200)
    expect((await accept(body.data.link)).body.data).toEqual({
      account: 'operator',
      email: operator.email,
    })
    expect((await accept(body.data.link)).status).toBe(404)
    expect((await operator.get(`${AUTH}/me`)).status).toBe(401)
    const signedIn = await login(operator.email, NEW)
    // The second factor stays: the link alone is not enough to sign in.
    expect(signedIn.body.data).toMatchObject({ mfa_required: true, mfa_enrolled: true })
  })

  it('has no reset while the operator is deactivated, and an open link ends', async () => {
    const operator = await app.operator('support')
    const path = `${OPERATORS}/${operator.id}`
    const { link } = (await owner.post(`${path}/password-reset`, REASON)).body.data
    await owner.put(path, { is_active: false })
    expect((await accept(link)).status).toBe(404)
    expect((await owner.post(`${path}/password-reset`, REASON)).status).toBe(409)
  })
})

describe('the address of a deactivated operator (B3.3)', () => {
  it('can be used again, and the old operator then stays deactivated', async () => {
    const old = await app.operator('support', 'jo@ops.test')
    await owner.put(`${OPERATORS}/${old.id}`, { is_active: false })
    const newcomer = { email: 'jo@ops.test', full_name: 'Jo', password: NEW, role: 'operator' }
    const created = await owner.post(OPERATORS, newcomer)
    expect(created).toMatchObject({ status: 201, body: { data: { mfa_enrolled: false } } })
    expect((await login('jo@ops.test')).status).toBe(401)
    expect((await login('jo@ops.test', NEW)).status).toBe(200)
    expect(await owner.put(`${OPERATORS}/${old.id}`, { is_active: true })).toMatchObject({
      status: 409,
      body: { msg: 'An operator with that email already exists' },
    })
    expect((await owner.post(OPERATORS, newcomer)).status).toBe(409)
  })
})

describe('mailplane operators rescue (B3.3)', () => {
  it('lets an owner back in who lost the second factor and is throttled', async () => {
    const lost = await app.operator('owner')
    const from = newIp()
    for (let failure = 1; failure <= 3; failure++) await login(lost.email, 'guess', from)
    expect((await login(lost.email)).status).toBe(429)
    const { config, db, vault } = app.core
    const rescue = (email: string) =>
      rescueByCommand(db, { config, vault, email, reason: 'phone lost' })
    expect(await rescue('none@ops.test')).toBe('unknown')
    const rescued = await rescue(lost.email)
    expect(rescued).toMatchObject({ mfa_cleared: true, sessions_revoked: 1 })
    await app.core.access.settled()
    expect((await lost.get(`${AUTH}/me`)).status).toBe(401)
    expect((await login(lost.email)).body.data).toMatchObject({ mfa_enrolled: false })
    expect((await accept((rescued as { link: string }).link)).status).toBe(200)
    expect((await login(lost.email, NEW)).status).toBe(200)
    expect(await eventsOf(lost.id)).toEqual(['operator.rescued', 'operator.password.changed'])
    const audit = await db
      .selectFrom('operator_audit')
      .select(['target_id', 'request_body'])
      .where('action', '=', 'rescue_operator')
      .execute()
    expect(audit).toMatchObject([{ target_id: lost.id, request_body: { reason: 'phone lost' } }])
  })
})
