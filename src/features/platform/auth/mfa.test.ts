import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../../../test/support/app.ts'
import { MINUTE_MS, SECOND_MS } from '../../../lib/time.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const STEP = 30 * SECOND_MS
const AUTH = '/api/v1/platform/auth'
const REFUSED = { status: 401, body: { msg: 'Invalid MFA code' } }

/** Opens a partial session from a new IP address, so that failures of one test do not block another. */
const partialOf = (id: string) => app.session('operator', id, { partial: true, from: newIp() })

/** An operator with an enrolled second factor, two steps after the code of the enrollment. */
async function enrolledOperator() {
  const operator = await app.operator('admin')
  app.clock.advance(2 * STEP)
  return operator
}

/** Moves the clock to the middle of a step, so that a slow test does not cross into the next one. */
const moveToMidStep = () => {
  const into = app.clock.now().getTime() % STEP
  app.clock.advance(into < STEP / 2 ? STEP / 2 - into : 1.5 * STEP - into)
}

describe('enrollment of a second factor', () => {
  async function unenrolledOperator() {
    const { id } = await app.operator('support')
    await app.core.access.twoFactor.reset(app.core.db, { kind: 'operator', id })
    return { id, partial: await partialOf(id) }
  }

  it('returns a secret, its otpauth URI and eight backup codes, all stored encrypted or hashed', async () => {
    const { id, partial } = await unenrolledOperator()
    const { status, body } = await partial.post(`${AUTH}/mfa/setup`)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ digits: 6, period: 30, algorithm: 'SHA1' })
    expect(body.data.secret).toMatch(/^[A-Z2-7]{32}$/)
    const uri = new URL(body.data.otpauth_uri)
    expect(uri.protocol).toBe('otpauth:')
    expect(uri.searchParams.get('secret')).toBe(body.data.secret)
    expect(uri.searchParams.get('issuer')).toBe('Mailplane')
    expect(decodeURIComponent(uri.pathname)).toMatch(/Mailplane:support-.*@ops\.test$/)
    expect(new Set(body.data.backup_codes).size).toBe(8)
    for (const code of body.data.backup_codes) expect(code).toMatch(/^[A-Z2-9]{8}$/)
    const stored = await app.core.db
      .selectFrom('totp_enrollments')
      .selectAll()
      .where('subject_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(stored.secret.toString('latin1')).not.toContain(body.data.secret)
    expect(JSON.stringify(stored.backup_code_hashes)).not.toContain(body.data.backup_codes[0])
  })

  it('is not replayed to another session with the same Idempotency-Key (S10)', async () => {
    const { id, partial } = await unenrolledOperator()
    const retry = { headers: { 'idempotency-key': 'enrollment' } }
    const first = await partial.post(`${AUTH}/mfa/setup`, {}, retry)
    expect((await partial.post(`${AUTH}/mfa/setup`, {}, retry)).text).toBe(first.text)
    const other = await partialOf(id)
    const again = await other.post(`${AUTH}/mfa/setup`, {}, retry)
    expect(again.headers).not.toHaveProperty('idempotency-replayed')
    expect(again.body.data.secret).not.toBe(first.body.data.secret)
    expect(again.body.data.backup_codes).not.toEqual(first.body.data.backup_codes)
  })

  it('replaces the pending secret when enrollment is started again', async () => {
    const { partial } = await unenrolledOperator()
    const first = (await partial.post(`${AUTH}/mfa/setup`)).body.data.secret
    const second = (await partial.post(`${AUTH}/mfa/setup`)).body.data.secret
    moveToMidStep()
    expect(await partial.post(`${AUTH}/mfa`, { token: app.code(first) })).toMatchObject(REFUSED)
    app.clock.advance(15 * SECOND_MS)
    moveToMidStep()
    expect((await partial.post(`${AUTH}/mfa`, { token: app.code(second) })).status).toBe(200)
  })

  it('rejects a backup code as confirmation', async () => {
    const { partial } = await unenrolledOperator()
    const { backup_codes } = (await partial.post(`${AUTH}/mfa/setup`)).body.data
    expect(await partial.post(`${AUTH}/mfa`, { token: backup_codes[0] })).toMatchObject(REFUSED)
  })

  it('rejects every code before enrollment is started', async () => {
    const { partial } = await unenrolledOperator()
    expect(await partial.post(`${AUTH}/mfa`, { token: '123456' })).toMatchObject(REFUSED)
  })

  it('returns 409 when a second factor is enrolled, until an owner resets it', async () => {
    const operator = await enrolledOperator()
    const partial = await partialOf(operator.id)
    expect(await partial.post(`${AUTH}/mfa/setup`)).toMatchObject({
      status: 409,
      body: { type: 'error' },
    })
    const owner = await app.operator('owner')
    await owner.post(`/api/v1/platform/operators/${operator.id}/mfa-reset`, {
      reason: 'Lost phone',
    })
    const again = await partialOf(operator.id)
    expect((await again.post(`${AUTH}/mfa/setup`)).status).toBe(200)
  })
})

describe('the second step of an operator login', () => {
  it('promotes the session with new tokens and invalidates the old ones', async () => {
    const operator = await enrolledOperator()
    const partial = await partialOf(operator.id)
    const before = new Map(partial.jar)
    const from = await ipOf(partial.id)
    const answer = await partial.post(`${AUTH}/mfa`, { token: app.code(operator.secret) })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'MFA verified',
        data: { operator: { id: operator.id, email: operator.email, role: 'admin' } },
      },
    })
    for (const name of ['svc_operator_session', 'svc_operator_csrf']) {
      expect(partial.jar.get(name)).not.toBe(before.get(name))
    }
    expect((await partial.get(`${AUTH}/me`)).status).toBe(200)
    expect(await app.send('GET', `${AUTH}/me`, { jar: before, from })).toMatchObject({
      status: 401,
      body: { msg: 'Session expired or invalid' },
    })
    const row = await app.core.db
      .selectFrom('operators')
      .select('last_login_at')
      .where('id', '=', operator.id)
      .executeTakeFirstOrThrow()
    expect(
      Math.abs(Date.parse(row.last_login_at as string) - app.clock.now().getTime()),
    ).toBeLessThan(10 * SECOND_MS)
  })

  const ipOf = async (sessionId: string) =>
    (
      await app.core.db
        .selectFrom('sessions')
        .select('ip_address')
        .where('id', '=', sessionId)
        .executeTakeFirstOrThrow()
    ).ip_address

  it.each([
    [-2, 401],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 401],
  ])('answers a code that is %i steps away with %i', async (steps, status) => {
    const operator = await enrolledOperator()
    moveToMidStep()
    app.clock.advance(2 * STEP)
    const partial = await partialOf(operator.id)
    const answer = await partial.post(`${AUTH}/mfa`, { token: app.code(operator.secret, steps) })
    expect(answer.status).toBe(status)
  })

  it('accepts a code once and no older code after it', async () => {
    const operator = await enrolledOperator()
    moveToMidStep()
    const code = app.code(operator.secret)
    const older = app.code(operator.secret, -1)
    expect((await (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token: code })).status).toBe(
      200,
    )
    expect(await (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token: code })).toMatchObject(
      REFUSED,
    )
    app.clock.advance(15 * SECOND_MS)
    const replay = await (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token: older })
    expect(replay.status).toBe(401)
  })

  it('accepts a code once when two processes receive it at the same time', async () => {
    const operator = await enrolledOperator()
    const second = await startApp({ database: app.database })
    try {
      second.clock.advance(app.clock.now().getTime() - second.clock.now().getTime())
      moveToMidStep()
      second.clock.advance(app.clock.now().getTime() - second.clock.now().getTime())
      const token = app.code(operator.secret)
      const [here, there] = [await partialOf(operator.id), await partialOf(operator.id)]
      const from = await ipOf(there.id)
      const answers = await Promise.all([
        here.post(`${AUTH}/mfa`, { token }),
        second.send('POST', `${AUTH}/mfa`, {
          jar: there.jar,
          from,
          headers: { 'x-csrf-token': there.csrfToken },
          body: { token },
        }),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    } finally {
      await second.stop()
    }
  })

  it('accepts each backup code once, in upper or lower case', async () => {
    const operator = await enrolledOperator()
    const [one = '', two = ''] = operator.backupCodes
    const use = async (token: string) =>
      (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token })
    expect((await use(one)).status).toBe(200)
    expect((await use(two.toLowerCase())).status).toBe(200)
    expect(await use(one)).toMatchObject(REFUSED)
    app.clock.advance(15 * SECOND_MS)
    expect(await use(two)).toMatchObject(REFUSED)
  })

  it("rejects another operator's backup codes", async () => {
    const [operator, other] = [await enrolledOperator(), await enrolledOperator()]
    const partial = await partialOf(operator.id)
    const answer = await partial.post(`${AUTH}/mfa`, { token: other.backupCodes[0] })
    expect(answer).toMatchObject(REFUSED)
  })

  it('stays blocked after three failures even when the password step succeeds', async () => {
    const operator = await enrolledOperator()
    const guess = async (token: string) =>
      (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token })
    for (const _ of [1, 2, 3]) expect(await guess('000000')).toMatchObject(REFUSED)
    expect((await app.partialOperator(operator.email, newIp())).login.status).toBe(200)
    const blocked = await guess(app.code(operator.secret))
    expect(blocked).toMatchObject({
      status: 429,
      body: { msg: 'Too many failed attempts. Try again later.' },
    })
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(880)
    app.clock.advance(15 * MINUTE_MS)
    expect((await guess(app.code(operator.secret))).status).toBe(200)
  })

  it('counts every one of several concurrent codes as an attempt', async () => {
    const operator = await enrolledOperator()
    const partial = await partialOf(operator.id)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        partial.post(`${AUTH}/mfa`, { token: `00000${index}` }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429, 429])
  })

  it('returns 401 for a session that has passed the second step, and keeps its tokens', async () => {
    const operator = await enrolledOperator()
    const answer = await operator.post(`${AUTH}/mfa`, { token: app.code(operator.secret) })
    expect(answer).toMatchObject({ status: 401, cookies: [] })
    expect((await operator.get(`${AUTH}/me`)).status).toBe(200)
  })

  it.each([{}, { token: '' }, { token: 123456 }, { token: '1'.repeat(33) }])(
    'rejects the body %j with 422 and names the field',
    async (body) => {
      const { id } = await app.operator('support')
      const partial = await partialOf(id)
      expect(await partial.post(`${AUTH}/mfa`, body)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'token'] }] },
      })
    },
  )
})
