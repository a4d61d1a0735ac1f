import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newAddress, startApp } from '../../../../test/support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const SECOND = 1000
const MINUTE = 60 * SECOND
const STEP = 30 * SECOND
const AUTH = '/api/v1/platform/auth'
const REFUSED = { status: 401, body: { msg: 'Invalid MFA code' } }

/** A partial session from an address of its own, so that failures of one test are its own. */
const partialOf = (id: string) => app.session('operator', id, { partial: true, from: newAddress() })

/** Somebody who has signed in once and now stands before the second step again. */
async function enrolled() {
  const operator = await app.operator('admin')
  app.clock.advance(2 * STEP)
  return operator
}

/** Half a step into the current one, so that a test cannot slide into the next by itself. */
const settle = () => {
  const into = app.clock.now().getTime() % STEP
  app.clock.advance(into < STEP / 2 ? STEP / 2 - into : 1.5 * STEP - into)
}

describe('enrolment of a second factor', () => {
  async function newcomer() {
    const { id } = await app.operator('support')
    await app.core.access.twoFactor.reset(app.core.db, { kind: 'operator', id })
    return { id, partial: await partialOf(id) }
  }

  it('offers a secret, its address for an authenticator, and eight backup codes', async () => {
    const { id, partial } = await newcomer()
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

  it('replaces a pending secret when it is begun again', async () => {
    const { partial } = await newcomer()
    const first = (await partial.post(`${AUTH}/mfa/setup`)).body.data.secret
    const second = (await partial.post(`${AUTH}/mfa/setup`)).body.data.secret
    settle()
    expect(await partial.post(`${AUTH}/mfa`, { token: app.code(first) })).toMatchObject(REFUSED)
    app.clock.advance(15 * SECOND)
    settle()
    expect((await partial.post(`${AUTH}/mfa`, { token: app.code(second) })).status).toBe(200)
  })

  it('does not take a backup code to confirm it', async () => {
    const { partial } = await newcomer()
    const { backup_codes } = (await partial.post(`${AUTH}/mfa/setup`)).body.data
    expect(await partial.post(`${AUTH}/mfa`, { token: backup_codes[0] })).toMatchObject(REFUSED)
  })

  it('refuses every code before it is begun', async () => {
    const { partial } = await newcomer()
    expect(await partial.post(`${AUTH}/mfa`, { token: '123456' })).toMatchObject(REFUSED)
  })

  it('is refused once one stands, until an owner resets it', async () => {
    const operator = await enrolled()
    const partial = await partialOf(operator.id)
    expect(await partial.post(`${AUTH}/mfa/setup`)).toMatchObject({
      status: 409,
      body: { type: 'error' },
    })
    const owner = await app.operator('owner')
    await owner.post(`/api/v1/platform/operators/${operator.id}/mfa-reset`)
    const again = await partialOf(operator.id)
    expect((await again.post(`${AUTH}/mfa/setup`)).status).toBe(200)
  })
})

describe('the second step of an operator login', () => {
  it('promotes the session with new tokens: what was known before is worth nothing after', async () => {
    const operator = await enrolled()
    const partial = await partialOf(operator.id)
    const before = new Map(partial.jar)
    const from = await addressOf(partial.id)
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
    ).toBeLessThan(10 * SECOND)
  })

  const addressOf = async (sessionId: string) =>
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
  ])('answers a code of %i steps away with %i', async (steps, status) => {
    const operator = await enrolled()
    settle()
    app.clock.advance(2 * STEP)
    const partial = await partialOf(operator.id)
    const answer = await partial.post(`${AUTH}/mfa`, { token: app.code(operator.secret, steps) })
    expect(answer.status).toBe(status)
  })

  it('takes a code once, and no older one after it', async () => {
    const operator = await enrolled()
    settle()
    const code = app.code(operator.secret)
    const older = app.code(operator.secret, -1)
    expect((await (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token: code })).status).toBe(
      200,
    )
    expect(await (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token: code })).toMatchObject(
      REFUSED,
    )
    app.clock.advance(15 * SECOND)
    const replay = await (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token: older })
    expect(replay.status).toBe(401)
  })

  it('takes a code once also when it is sent twice at the same time, to two processes', async () => {
    const operator = await enrolled()
    const second = await startApp({ database: app.database })
    try {
      second.clock.advance(app.clock.now().getTime() - second.clock.now().getTime())
      settle()
      second.clock.advance(app.clock.now().getTime() - second.clock.now().getTime())
      const token = app.code(operator.secret)
      const [here, there] = [await partialOf(operator.id), await partialOf(operator.id)]
      const from = await addressOf(there.id)
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

  it('takes each backup code once, in any case', async () => {
    const operator = await enrolled()
    const [one = '', two = ''] = operator.backupCodes
    const use = async (token: string) =>
      (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token })
    expect((await use(one)).status).toBe(200)
    expect((await use(two.toLowerCase())).status).toBe(200)
    expect(await use(one)).toMatchObject(REFUSED)
    app.clock.advance(15 * SECOND)
    expect(await use(two)).toMatchObject(REFUSED)
  })

  it("does not take another operator's codes", async () => {
    const [operator, other] = [await enrolled(), await enrolled()]
    const partial = await partialOf(operator.id)
    const answer = await partial.post(`${AUTH}/mfa`, { token: other.backupCodes[0] })
    expect(answer).toMatchObject(REFUSED)
  })

  it('closes after failures, and the right password does not open it again', async () => {
    const operator = await enrolled()
    const guess = async (token: string) =>
      (await partialOf(operator.id)).post(`${AUTH}/mfa`, { token })
    for (const seconds of [15, 30]) {
      expect(await guess('000000')).toMatchObject(REFUSED)
      app.clock.advance(seconds * SECOND)
    }
    expect(await guess('000000')).toMatchObject(REFUSED)
    expect((await app.partialOperator(operator.email, newAddress())).login.status).toBe(200)
    const blocked = await guess(app.code(operator.secret))
    expect(blocked).toMatchObject({
      status: 429,
      body: { msg: 'Too many failed attempts. Try again later.' },
    })
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(880)
    app.clock.advance(15 * MINUTE)
    expect((await guess(app.code(operator.secret))).status).toBe(200)
  })

  it('counts each of many codes tried at once', async () => {
    const operator = await enrolled()
    const partial = await partialOf(operator.id)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        partial.post(`${AUTH}/mfa`, { token: `00000${index}` }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([401, ...Array(5).fill(429)])
  })

  it('does not renew the tokens of a session that is past it', async () => {
    const operator = await enrolled()
    const answer = await operator.post(`${AUTH}/mfa`, { token: app.code(operator.secret) })
    expect(answer).toMatchObject({ status: 401, cookies: [] })
    expect((await operator.get(`${AUTH}/me`)).status).toBe(200)
  })

  it.each([{}, { token: '' }, { token: 123456 }, { token: '1'.repeat(33) }])(
    'names what is wrong with the body %j',
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
