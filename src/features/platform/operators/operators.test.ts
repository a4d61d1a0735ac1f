import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'

let app: App
let owner: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  owner = await app.operator('owner')
})
afterAll(() => app.stop())

const PATH = '/api/v1/platform/operators'
const REASON = { reason: 'Lost phone' }
const NOT_FOUND = { status: 404, body: { type: 'error', msg: 'Operator not found' } }
const newcomer = {
  email: 'new@ops.test',
  full_name: 'New Comer',
  password: PASSWORD,
  role: 'admin',
}

describe('creating an operator', () => {
  it.each([
    ['role', 'root', 'Must be one of support, operator, admin, owner'],
    ['email', 'no-at-sign', 'Has an unexpected format'],
    ['full_name', '', 'Must not be empty'],
    ['full_name', 'x'.repeat(256), 'Must have at most 255 characters'],
    ['password', 'short1', 'Password must be at least 12 characters long'],
    ['password', 'Password1234', 'Password is too common; choose something less predictable'],
  ])('rejects an invalid %s (case %#)', async (field, value, msg) => {
    expect(await owner.post(PATH, { ...newcomer, [field]: value })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', field], msg }] },
    })
  })

  it('returns 409 for an e-mail address that is taken, in upper or lower case', async () => {
    const taken = await app.operator('support')
    const body = { ...newcomer, email: taken.email.toUpperCase() }
    expect(await owner.post(PATH, body)).toMatchObject({
      status: 409,
      body: { msg: 'An operator with that email already exists' },
    })
  })

  it('returns the full record with the e-mail address trimmed and in lower case', async () => {
    const answer = await owner.post(PATH, { ...newcomer, email: '  Jane@Ops.Test ' })
    expect(answer).toMatchObject({ status: 201, body: { msg: 'Operator created' } })
    expect(answer.body.data).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      email: 'jane@ops.test',
      full_name: 'New Comer',
      role: 'admin',
      is_active: true,
      mfa_required: true,
      mfa_enrolled: false,
      last_login_at: null,
      created_by: owner.id,
      created_by_email: owner.email,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      active_session_count: 0,
    })
    expect((await app.partialOperator('jane@ops.test')).login.status).toBe(200)
  })

  it('succeeds once for two concurrent requests with one e-mail address', async () => {
    const body = { ...newcomer, email: 'twice@ops.test' }
    const answers = await Promise.all([owner.post(PATH, body), owner.post(PATH, body)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })
})

describe('the list of operators', () => {
  const list = async (query: string) => {
    const answer = await owner.get(`${PATH}?${query}`)
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Operators retrieved' } })
    return answer.body.data as {
      items: { id: string; email: string; role: string; is_active: boolean }[]
      pagination: object
    }
  }

  it.each([
    ['role=root', 'role must be one of support, operator, admin, owner'],
    ['is_active=perhaps', "is_active must be 'true' or 'false'"],
    ['page=0', 'page must be at least 1'],
    ['per_page=0', 'per_page must be at least 1'],
    ['page=one', 'page must be a whole number'],
    ['page=1e999', 'page must be a whole number'],
  ])('rejects the query %s with 422', async (query, msg) => {
    expect(await owner.get(`${PATH}?${query}`)).toMatchObject({
      status: 422,
      body: { type: 'error', msg },
    })
  })

  it('returns pages, newest first, with the total', async () => {
    const third = await app.operator('support', 'list-1@list.test')
    app.clock.advance(1000)
    const second = await app.operator('support', 'list-2@list.test')
    const first = await app.operator('admin', 'list-3@list.test')
    const { items, pagination } = await list('q=@list.test&per_page=2')
    expect(items.map(({ id }) => id)).toEqual([first.id, second.id])
    expect(pagination).toEqual({ page: 1, per_page: 2, total: 3, total_pages: 2 })
    const last = await list('q=@list.test&per_page=2&page=2')
    expect(last.items.map(({ id }) => id)).toEqual([third.id])
    expect((await list('q=@list.test&page=9')).items).toEqual([])
    expect((await list('q=nobody-at-all')).pagination).toMatchObject({ total: 0, total_pages: 0 })
    expect((await list('per_page=1000')).pagination).toMatchObject({ per_page: 200 })
  })

  it('searches part of the e-mail address or name, ignoring case, without wildcards', async () => {
    await owner.post(PATH, {
      ...newcomer,
      email: 'findme@search.test',
      full_name: 'Max_Ernst 100%',
    })
    for (const q of ['FINDME', 'max_ernst', '100%25']) {
      expect((await list(`q=${q}`)).items.map(({ email }) => email)).toEqual(['findme@search.test'])
    }
    expect((await list('q=maxXernst')).items).toEqual([])
    expect((await list('q=find%25search')).items).toEqual([])
  })

  it('filters by role and active status', async () => {
    const { items } = await list('role=owner')
    expect(items.length).toBeGreaterThan(0)
    expect(items.every(({ role }) => role === 'owner')).toBe(true)
    const gone = await app.operator('support')
    await owner.put(`${PATH}/${gone.id}`, { is_active: false })
    expect((await list('is_active=false')).items.map(({ id }) => id)).toEqual([gone.id])
    expect((await list('is_active=1')).items.map(({ id }) => id)).not.toContain(gone.id)
  })

  it('rejects a NUL byte in the query or the path with 400', async () => {
    for (const url of [`${PATH}?q=%00`, `${PATH}/a%00b`]) {
      expect(await owner.get(url)).toMatchObject({
        status: 400,
        body: { type: 'error', msg: 'The address of this request is malformed' },
      })
    }
    expect((await owner.get(`${PATH}?q=%2500%FF%ED%A0%80`)).status).toBe(200)
  })
})

describe('a single operator', () => {
  it('returns 404 for an unknown id on every route', async () => {
    expect(await owner.get(`${PATH}/unknown`)).toMatchObject(NOT_FOUND)
    expect(await owner.put(`${PATH}/unknown`, { full_name: 'x' })).toMatchObject(NOT_FOUND)
    expect(await owner.post(`${PATH}/unknown/mfa-reset`, REASON)).toMatchObject(NOT_FOUND)
    expect(await owner.get(`${PATH}/unknown/sessions`)).toMatchObject(NOT_FOUND)
    expect(await owner.post(`${PATH}/unknown/sessions/revoke`, REASON)).toMatchObject(NOT_FOUND)
  })

  it('counts only live sessions and never returns the password hash', async () => {
    const other = await app.operator('support')
    await app.session('operator', other.id)
    const ended = await app.session('operator', other.id)
    await ended.post('/api/v1/platform/auth/logout')
    const answer = await owner.get(`${PATH}/${other.id}`)
    expect(answer).toMatchObject({
      status: 200,
      body: { msg: 'Operator retrieved', data: { active_session_count: 2, mfa_enrolled: true } },
    })
    expect(answer.text).not.toContain('argon2')
  })

  it('can change its own name but not its own role or active status', async () => {
    const path = `${PATH}/${owner.id}`
    for (const body of [{ role: 'support' }, { is_active: false }, { role: 'owner' }]) {
      expect(await owner.put(path, { ...body, full_name: 'x' })).toMatchObject({
        status: 403,
        body: { msg: 'An operator cannot change their own role or active status' },
      })
    }
    expect(await owner.put(path, { full_name: 'The Owner' })).toMatchObject({
      status: 200,
      body: { msg: 'Operator updated', data: { full_name: 'The Owner', role: 'owner' } },
    })
  })

  it('returns 400 for a body without updatable fields and changes nothing', async () => {
    const { id, email } = await app.operator('support')
    for (const body of [{}, { unheard_of: 1 }]) {
      expect(await owner.put(`${PATH}/${id}`, body)).toMatchObject({
        status: 400,
        body: { msg: 'No updatable fields provided' },
      })
    }
    expect(await owner.put(`${PATH}/${id}`, { email: 'other@ops.test' })).toMatchObject({
      status: 422,
      body: { msg: 'Nothing was changed: email cannot be changed here' },
    })
    expect((await owner.get(`${PATH}/${id}`)).body.data.email).toBe(email)
    expect((await owner.put(`${PATH}/${id}`, { role: 'root' })).status).toBe(422)
  })

  it('keeps one of two owners that demote each other at the same time', async () => {
    for (let round = 1; round <= 4; round++) {
      const [one, other] = [await app.operator('owner'), await app.operator('owner')]
      const answers = await Promise.all([
        one.put(`${PATH}/${other.id}`, { role: 'support' }),
        other.put(`${PATH}/${one.id}`, { is_active: false }),
      ])
      expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
      const owners = await app.core.db
        .selectFrom('operators')
        .select('id')
        .where('id', 'in', [one.id, other.id])
        .where('role', '=', 'owner')
        .where('is_active', '=', true)
        .execute()
      expect(owners).toHaveLength(1)
    }
  })
})

describe('corrective actions', () => {
  it.each(['mfa-reset', 'password-reset', 'sessions/revoke'])(
    'need a reason, which the audit row of %s has (B7.3)',
    async (action) => {
      const other = await app.operator('admin')
      const path = `${PATH}/${other.id}/${action}`
      for (const body of [undefined, {}, { reason: '' }, { reason: '  ' }]) {
        const refused = await owner.call('POST', path, body)
        expect(refused).toMatchObject({ status: 422, body: { error_code: 'VALIDATION_FAILED' } })
      }
      expect((await other.get('/api/v1/platform/auth/me')).status).toBe(200)
      expect((await owner.post(path, REASON)).status).toBe(200)
      const rows = await app.core.db
        .selectFrom('operator_audit')
        .select('request_body')
        .where('target_id', '=', other.id)
        .where('result', '=', 'success')
        .execute()
      expect(rows).toEqual([{ request_body: REASON }])
    },
  )
})

describe('MFA reset', () => {
  it('returns 403 for the own account', async () => {
    expect(await owner.post(`${PATH}/${owner.id}/mfa-reset`, REASON)).toMatchObject({
      status: 403,
      body: { msg: 'An operator cannot reset their own MFA enrollment' },
    })
  })

  it('clears the second factor and ends every session; a repeated call changes nothing', async () => {
    const other = await app.operator('admin')
    await app.session('operator', other.id)
    const path = `${PATH}/${other.id}/mfa-reset`
    expect(await owner.post(path, REASON)).toMatchObject({
      status: 200,
      body: { data: { operator_id: other.id, mfa_cleared: true, sessions_revoked: 2 } },
    })
    expect((await other.get('/api/v1/platform/auth/me')).status).toBe(401)
    expect((await owner.get(`${PATH}/${other.id}`)).body.data.mfa_enrolled).toBe(false)
    expect((await owner.post(path, REASON)).body.data).toEqual({
      operator_id: other.id,
      mfa_cleared: false,
      sessions_revoked: 0,
    })
  })
})
