import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { SECOND_MS } from '../../../lib/time.ts'

const AUTH = '/api/v1/platform/auth'
const CODES = `${AUTH}/mfa/backup-codes`
const STEP = 30 * SECOND_MS

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

/** An operator in the middle of a step, two steps after the code of the enrollment. */
async function enrolled() {
  const operator = await app.operator('support')
  app.clock.advance(2 * STEP)
  app.clock.advance((1.5 * STEP - (app.clock.now().getTime() % STEP)) % STEP)
  return operator
}

const signIn = async (id: string, token: string | undefined) =>
  (await app.session('operator', id, { partial: true, from: newIp() })).post(`${AUTH}/mfa`, {
    token,
  })

describe('new backup codes of an operator', () => {
  it('replace the old ones, against the password', async () => {
    const operator = await enrolled()
    const { status, body } = await operator.post(CODES, { current_password: PASSWORD })
    expect(status).toBe(200)
    const codes: string[] = body.data.backup_codes
    expect(new Set(codes).size).toBe(8)
    expect((await signIn(operator.id, operator.backupCodes[0])).status).toBe(401)
    expect((await signIn(operator.id, codes[0])).status).toBe(200)
    expect((await signIn(operator.id, codes[0])).status, 'a spent code').toBe(401)
  })

  it('are given against a current code, which is spent, or against a backup code', async () => {
    const operator = await enrolled()
    const token = app.code(operator.secret)
    const first = await operator.post(CODES, { token })
    expect(first.status).toBe(200)
    expect(await operator.post(CODES, { token })).toMatchObject({
      status: 401,
      body: { msg: 'Invalid MFA code' },
    })
    const again = await operator.post(CODES, { token: first.body.data.backup_codes[7] })
    expect(again.status).toBe(200)
  })

  it('are refused without a proof, with two, and with a wrong one, and the old ones stay', async () => {
    const operator = await enrolled()
    for (const body of [{}, { current_password: PASSWORD, token: '123456' }]) {
      expect(await operator.post(CODES, body)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'current_password'] }] },
      })
    }
    expect(await operator.post(CODES, { current_password: 'wrong' })).toMatchObject({
      status: 401,
      body: { msg: 'Invalid email or password' },
    })
    expect((await operator.post(CODES, { token: '000000' })).status).toBe(401)
    expect((await operator.get(`${AUTH}/me`)).status, 'the session').toBe(200)
    expect((await signIn(operator.id, operator.backupCodes[0])).status).toBe(200)
  })

  it('are throttled like sign-ins', async () => {
    const operator = await enrolled()
    for (const _ of [1, 2, 3]) await operator.post(CODES, { token: '000000' })
    expect((await operator.post(CODES, { token: app.code(operator.secret) })).status).toBe(429)
  })

  it('are refused before the second step of a login, and to tenants', async () => {
    const operator = await enrolled()
    const partial = await app.session('operator', operator.id, { partial: true, from: newIp() })
    expect(await partial.post(CODES, { current_password: PASSWORD })).toMatchObject({
      status: 403,
      body: { msg: 'MFA required' },
    })
    const acme = await app.tenant('acme')
    expect((await acme.post(CODES, { current_password: PASSWORD })).status).toBe(403)
  })

  it('are in the audit trail without the proof and the codes', async () => {
    const operator = await enrolled()
    const { body } = await operator.post(CODES, { current_password: PASSWORD })
    const rows = await app.core.db
      .selectFrom('operator_audit')
      .selectAll()
      .where('action', '=', 'renew_operator_backup_codes')
      .where('operator_id', '=', operator.id)
      .execute()
    expect(rows).toMatchObject([{ result: 'success', status_code: 200 }])
    expect(JSON.stringify(rows)).not.toContain(PASSWORD)
    expect(JSON.stringify(rows)).not.toContain(body.data.backup_codes[0])
  })
})

describe('the own sessions of an operator', () => {
  it('are listed without ended ones and those of others, and can be ended', async () => {
    const operator = await enrolled()
    const elsewhere = await app.session('operator', operator.id)
    const other = await enrolled()
    const { body } = await operator.get(`${AUTH}/sessions`)
    const { items } = body.data
    expect(items.map((one: { is_current: boolean }) => one.is_current).toSorted()).toEqual([
      false,
      true,
    ])
    const otherItems = (await other.get(`${AUTH}/sessions`)).body.data.items
    const foreign = await operator.delete(`${AUTH}/sessions/${otherItems[0].id}`)
    expect(foreign).toMatchObject({ status: 404, body: { msg: 'Session not found' } })
    expect((await other.get(`${AUTH}/me`)).status).toBe(200)
    const { id } = items.find((one: { is_current: boolean }) => !one.is_current)
    expect(await operator.delete(`${AUTH}/sessions/${id}`)).toMatchObject({
      status: 200,
      body: { data: { session_id: id, revoked: 1 } },
    })
    expect((await elsewhere.get(`${AUTH}/me`)).status).toBe(401)
    expect((await operator.delete(`${AUTH}/sessions/${id}`)).status).toBe(404)
    expect((await operator.get(`${AUTH}/sessions`)).body.data.items).toHaveLength(1)
  })
})
