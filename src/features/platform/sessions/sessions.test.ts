import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { HOUR_MS } from '../../../lib/time.ts'

let app: App
let owner: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  owner = await app.operator('owner')
})
afterAll(() => app.stop())

const SESSIONS = '/api/v1/platform/sessions'
const OPERATORS = '/api/v1/platform/operators'
const ME = '/api/v1/platform/auth/me'
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const reason = { reason: 'Laptop was stolen' }

describe('sessions of one operator', () => {
  it('lists live and ended sessions, newest first', async () => {
    const other = await app.operator('support')
    app.clock.advance(1000)
    const second = await app.session('operator', other.id)
    await second.post('/api/v1/platform/auth/logout')
    app.clock.advance(1000)
    const third = await app.session('operator', other.id, { partial: true })
    const answer = await owner.get(`${OPERATORS}/${other.id}/sessions`)
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Operator sessions retrieved' } })
    expect(answer.body.data).toEqual({
      items: [
        [third.id, false, true],
        [second.id, true, false],
        [other.sessionId, true, true],
      ].map(([id, mfa_satisfied, is_active]) => ({
        id,
        mfa_satisfied,
        is_active,
        ip_address: '127.0.0.1',
        user_agent: null,
        created_at: TIME,
        expires_at: TIME,
        absolute_expiry: TIME,
        revoked_at: is_active ? null : TIME,
      })),
    })
    expect(answer.text).not.toContain(third.token)
  })

  it('marks a session as inactive after its expiry', async () => {
    const other = await app.operator('support')
    app.clock.advance(4 * HOUR_MS)
    const renewed = await app.session('operator', owner.id)
    const { items } = (await renewed.get(`${OPERATORS}/${other.id}/sessions`)).body.data
    expect(items).toMatchObject([{ is_active: false, revoked_at: null }])
    owner = { ...owner, ...renewed, id: owner.id, sessionId: renewed.id }
  })

  it('revokes all sessions at once and returns how many this call ended', async () => {
    const other = await app.operator('support')
    await app.session('operator', other.id)
    const path = `${OPERATORS}/${other.id}/sessions/revoke`
    expect(await owner.post(path, reason)).toMatchObject({
      status: 200,
      body: { msg: 'Sessions revoked', data: { operator_id: other.id, revoked: 2 } },
    })
    expect((await other.get(ME)).status).toBe(401)
    expect((await owner.post(path, reason)).body.data.revoked).toBe(0)
    expect((await owner.get(ME)).status).toBe(200)
  })
})

describe('live sessions of all operators', () => {
  it('lists each session with its operator and marks the current one', async () => {
    const other = await app.operator('admin')
    const ended = await app.session('operator', other.id)
    await ended.post('/api/v1/platform/auth/logout')
    const answer = await owner.get(SESSIONS)
    expect(answer).toMatchObject({
      status: 200,
      body: { msg: 'Live operator sessions retrieved' },
    })
    const items = answer.body.data.items as { id: string; is_active: boolean }[]
    expect(items.every(({ is_active }) => is_active)).toBe(true)
    expect(items.map(({ id }) => id)).not.toContain(ended.id)
    expect(items.find(({ id }) => id === other.sessionId)).toMatchObject({
      operator_id: other.id,
      operator_email: other.email,
      operator_role: 'admin',
      is_current: false,
    })
    expect(items.find(({ id }) => id === owner.sessionId)).toMatchObject({ is_current: true })
  })

  it('excludes dashboard sessions and returns 404 when one is revoked', async () => {
    const tenant = await app.tenant('acme')
    const { id } = await app.session('dashboard', tenant.userId)
    expect((await owner.get(SESSIONS)).text).not.toContain(id)
    expect((await owner.delete(`${SESSIONS}/${id}`, reason)).status).toBe(404)
  })
})

describe('revoking one session', () => {
  it.each([[undefined], [{}], [{ reason: '' }]])(
    'requires a reason: %j is rejected',
    async (body) => {
      const other = await app.operator('support')
      const answer = await owner.delete(`${SESSIONS}/${other.sessionId}`, body)
      expect(answer.status).toBe(422)
      expect(answer.body.detail).toHaveLength(1)
      expect((await other.get(ME)).status).toBe(200)
    },
  )

  it('ends only that session at once and returns 404 when repeated', async () => {
    const other = await app.operator('support')
    const untouched = await app.session('operator', other.id)
    expect((await other.get(ME)).status).toBe(200)
    const path = `${SESSIONS}/${other.sessionId}`
    expect(await owner.delete(path, reason)).toMatchObject({
      status: 200,
      body: { msg: 'Session revoked', data: { session_id: other.sessionId, revoked: 1 } },
    })
    expect((await other.get(ME)).status).toBe(401)
    expect((await untouched.get(ME)).status).toBe(200)
    for (const unknown of [path, `${SESSIONS}/unknown`]) {
      expect(await owner.delete(unknown, reason)).toMatchObject({
        status: 404,
        body: { msg: 'Session not found' },
      })
    }
  })
})
