import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'

let app: App
beforeEach(async () => {
  app = await startApp()
})
afterEach(() => app.stop())

const body = { email: 'Root@Ops.Test', full_name: 'Root Operator', password: PASSWORD }
const tokenFile = () => join(app.dataDir, 'operator-bootstrap-token')
const token = () => readFileSync(tokenFile(), 'utf8').trim()
const bootstrap = (
  sent: object = body,
  headers: Record<string, string> = { 'x-bootstrap-token': token() },
) => app.send('POST', '/api/v1/platform/auth/bootstrap', { headers, body: sent })

describe('bootstrap of the first operator', () => {
  it('rejects a wrong or missing token with 401 before it validates the body', async () => {
    for (const headers of [{ 'x-bootstrap-token': 'wrong' }, {}]) {
      expect(await bootstrap({}, headers as Record<string, string>)).toMatchObject({
        status: 401,
        body: { msg: 'Invalid bootstrap token' },
      })
    }
    expect(existsSync(tokenFile())).toBe(true)
  })

  it("rejects the organization's bootstrap token", async () => {
    const other = readFileSync(join(app.dataDir, 'bootstrap-token'), 'utf8').trim()
    expect((await bootstrap(body, { 'x-bootstrap-token': other })).status).toBe(401)
  })

  it('names an invalid field with 422 and keeps the token', async () => {
    for (const [field, value] of [
      ['password', 'Password1234'],
      ['email', 'no-at-sign'],
      ['full_name', ''],
      ['full_name', 'x'.repeat(256)],
    ] as const) {
      expect(await bootstrap({ ...body, [field]: value })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', field] }] },
      })
    }
    expect((await bootstrap()).status).toBe(200)
  })

  it('creates an owner and removes only the operator token', async () => {
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600)
    const answer = await bootstrap()
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: expect.stringMatching(/^Operator bootstrap complete/),
        data: { operator_id: expect.any(String), email: 'root@ops.test', role: 'owner' },
      },
    })
    expect(existsSync(tokenFile())).toBe(false)
    expect(existsSync(join(app.dataDir, 'bootstrap-token'))).toBe(true)
    const { login } = await app.partialOperator('root@ops.test')
    expect(login.body.data).toMatchObject({ mfa_required: true, mfa_enrolled: false })
  })

  it('returns 409 for any token once an operator exists', async () => {
    const right = token()
    await bootstrap()
    for (const sent of [right, 'wrong']) {
      expect(await bootstrap(body, { 'x-bootstrap-token': sent })).toMatchObject({
        status: 409,
        body: { msg: 'Already bootstrapped -- an operator already exists' },
      })
    }
  })

  it('returns 409 when no bootstrap token exists', async () => {
    const right = token()
    await app.core.db.deleteFrom('bootstrap_tokens').execute()
    expect(await bootstrap(body, { 'x-bootstrap-token': right })).toMatchObject({
      status: 409,
      body: { msg: 'Operator bootstrap is not available' },
    })
  })

  it('lets one of many concurrent calls in two processes succeed', async () => {
    const second = await startApp({ database: app.database })
    const tokens = [app, second].map(({ dataDir }) =>
      readFileSync(join(dataDir, 'operator-bootstrap-token'), 'utf8').trim(),
    )
    try {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          [app, second][index % 2]?.send('POST', '/api/v1/platform/auth/bootstrap', {
            headers: { 'x-bootstrap-token': tokens[index % 2] as string },
            body: { ...body, email: `root-${index}@ops.test` },
          }),
        ),
      )
      expect(answers.map((answer) => answer?.status).sort()).toEqual([200, ...Array(7).fill(409)])
      expect(await app.core.db.selectFrom('operators').select('id').execute()).toHaveLength(1)
      const otherFile = join(second.dataDir, 'operator-bootstrap-token')
      await expect.poll(() => existsSync(otherFile) || existsSync(tokenFile())).toBe(false)
    } finally {
      await second.stop()
    }
  })
})
