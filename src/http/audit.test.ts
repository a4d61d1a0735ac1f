import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../test/support/app.ts'
import type { Answer } from '../../test/support/http.ts'

let app: App
let owner: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  owner = await app.operator('owner')
})
afterAll(() => app.stop())

const OPERATORS = '/api/v1/platform/operators'
const newcomer = (email: string) => ({
  email,
  full_name: 'New Comer',
  password: PASSWORD,
  role: 'admin',
})

const find = (correlationId: string) =>
  app.core.db
    .selectFrom('operator_audit')
    .selectAll()
    .select(sql<string>`xmin::text`.as('transaction'))
    .where('correlation_id', '=', correlationId)
    .execute()

/** Waits for the audit row of a request; reads and rejections are stored after the response. */
async function rowOf({ headers }: Answer) {
  const id = headers['x-correlation-id'] as string
  await expect.poll(() => find(id)).not.toHaveLength(0)
  const rows = await find(id)
  expect(rows).toHaveLength(1)
  return rows[0] as (typeof rows)[0]
}

describe('the audit trail', () => {
  it.each([
    ['update', sql`update operator_audit set result = 'success'`],
    ['delete', sql`delete from operator_audit`],
    ['truncate', sql`truncate operator_audit`],
  ])('rejects changes of audit rows in the database: %s', async (_what, statement) => {
    await rowOf(await owner.get(OPERATORS))
    await expect(statement.execute(app.core.db)).rejects.toThrow('operator_audit is append-only')
  })

  it('records caller, action, target, IP address and result', async () => {
    const other = await app.operator('support')
    const answer = await owner.put(`${OPERATORS}/${other.id}`, { full_name: 'Renamed' })
    expect(await rowOf(answer)).toMatchObject({
      operator_id: owner.id,
      operator_email: owner.email,
      caller_scope: 'platform',
      action: 'update_operator',
      target_type: 'operator_id',
      target_id: other.id,
      organization_id: null,
      request_body: { full_name: 'Renamed' },
      result: 'success',
      status_code: 200,
      ip_address: '127.0.0.1',
    })
  })

  it('records reads', async () => {
    expect(await rowOf(await owner.get(`${OPERATORS}?q=x`))).toMatchObject({
      action: 'list_operators',
      target_type: null,
      request_body: null,
      result: 'success',
      status_code: 200,
    })
  })

  it('records rejected requests with their status, and without a caller when it is unknown', async () => {
    const [tenant, support] = [await app.tenant('acme'), await app.operator('support')]
    expect(await rowOf(await app.send('GET', OPERATORS))).toMatchObject({
      operator_id: null,
      operator_email: null,
      caller_scope: null,
      result: 'failure',
      status_code: 401,
    })
    expect(await rowOf(await tenant.get(OPERATORS))).toMatchObject({
      operator_id: null,
      caller_scope: 'organization',
      organization_id: tenant.organizationId,
      status_code: 403,
    })
    expect(await rowOf(await support.post(OPERATORS, newcomer('x@ops.test')))).toMatchObject({
      operator_id: support.id,
      action: 'create_operator',
      request_body: null,
      result: 'failure',
      status_code: 403,
    })
    expect(await rowOf(await owner.get(OPERATORS, { from: newIp() }))).toMatchObject({
      operator_id: owner.id,
      status_code: 401,
    })
  })

  it('records 60 requests an hour of one stranger, and keeps little of their bodies (S18)', async () => {
    const from = newIp()
    const body = { email: `${'x'.repeat(1100)}@ops.test`, password: PASSWORD }
    const login = await app.send('POST', '/api/v1/platform/auth/login', { body, from })
    expect(await rowOf(login)).toMatchObject({ request_body: { omitted: expect.any(String) } })
    for (let i = 0; i < 70; i++) await app.send('GET', OPERATORS, { from })
    await rowOf(await owner.get(OPERATORS))
    const { rows } = await app.core.db
      .selectFrom('operator_audit')
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      .where('ip_address', '=', from)
      .executeTakeFirstOrThrow()
    expect(Number(rows)).toBe(60)
    // Operators are recorded all the same, and so is another stranger.
    await rowOf(await app.send('GET', OPERATORS, { from: newIp() }))
  })

  it('records failed requests with their status', async () => {
    expect(await rowOf(await owner.post(OPERATORS, {}))).toMatchObject({ status_code: 422 })
    expect(await rowOf(await owner.get(`${OPERATORS}/unknown`))).toMatchObject({
      target_id: 'unknown',
      result: 'failure',
      status_code: 404,
    })
    expect(await rowOf(await owner.post(OPERATORS, newcomer(owner.email)))).toMatchObject({
      status_code: 409,
    })
  })

  it('records operator logins, failed ones too, without the password', async () => {
    const login = (password: string) =>
      app.send('POST', '/api/v1/platform/auth/login', {
        body: { email: owner.email, password },
        from: newIp(),
      })
    expect(await rowOf(await login(PASSWORD))).toMatchObject({
      action: 'operator_login',
      request_body: { email: owner.email, password: '[redacted]' },
      result: 'success',
    })
    expect(await rowOf(await login('hunter2'))).toMatchObject({
      operator_id: null,
      request_body: { email: owner.email, password: '[redacted]' },
      result: 'failure',
      status_code: 401,
    })
  })

  it('records requests of a platform key on tenant routes, and no requests of tenants', async () => {
    const tenant = await app.tenant('globex')
    const platform = await app.key(null, { scope: 'platform' })
    const own = await tenant.get('/api/v1/auth/me')
    expect(await rowOf(await platform.get('/api/v1/auth/me'))).toMatchObject({
      operator_id: null,
      api_key_id: platform.keyId.split('_').at(-1),
      caller_scope: 'platform',
      action: 'get_me',
    })
    expect(await find(own.headers['x-correlation-id'] as string)).toEqual([])
  })

  it('names what was created, and the organization that owns the target (B7.3)', async () => {
    const initech = await app.tenant('initech')
    const created = await owner.post(OPERATORS, newcomer('created@ops.test'))
    expect(await rowOf(created)).toMatchObject({
      target_type: 'operator_id',
      target_id: created.body.data.id,
    })
    const reason = 'asked for by telephone'
    const changed = await owner.put(`/api/v1/domains/${initech.domainId}`, { description: 'x' })
    expect(changed.status).toBe(200)
    const listed = await owner.get(`/api/v1/domains/?organization_id=${initech.organizationId}`)
    for (const answer of [changed, listed]) {
      expect((await rowOf(answer)).organization_id).toBe(initech.organizationId)
    }
    const blank = await owner.delete('/api/v1/platform/sessions/unknown', { reason: '   ' })
    expect(blank).toMatchObject({
      status: 422,
      body: { error_code: 'VALIDATION_FAILED', detail: [{ loc: ['body', 'reason'] }] },
    })
    const padding = 'x'.repeat(17_000)
    const omitted = await owner.delete('/api/v1/platform/sessions/unknown', { reason, padding })
    expect((await rowOf(omitted)).request_body).toEqual({ omitted: expect.any(String), reason })
  })

  it('records only the length of a body that is too large', async () => {
    const answer = await owner.post(OPERATORS, {
      ...newcomer('long@ops.test'),
      full_name: 'x'.repeat(17_000),
    })
    expect((await rowOf(answer)).request_body).toEqual({
      omitted: expect.stringMatching(/^17\d{3} bytes$/),
    })
  })

  it.each(['\0', '\ud800'])(
    'stores the row for a body with text that PostgreSQL cannot hold: %j',
    async (text) => {
      const before = await owner.get(OPERATORS)
      const odd = await owner.post(OPERATORS, { ...newcomer(`odd${text}@ops.test`), role: 'none' })
      expect(odd.status).toBeGreaterThanOrEqual(400)
      await rowOf(before)
      await rowOf(odd)
    },
  )

  it('stores the row for a URL with text that PostgreSQL cannot hold', async () => {
    const odd = await app.send('GET', `${OPERATORS}/a%00b`)
    expect(odd.status).toBe(400)
    await rowOf(await owner.get(OPERATORS))
  })
})

describe('the audit row of a change', () => {
  it('is stored in the transaction of the change', async () => {
    const answer = await owner.post(OPERATORS, newcomer('together@ops.test'))
    const row = await rowOf(answer)
    expect(row).toMatchObject({
      status_code: 201,
      result: 'success',
      request_body: { email: 'together@ops.test', password: '[redacted]' },
    })
    const operator = await app.core.db
      .selectFrom('operators')
      .select(sql<string>`xmin::text`.as('transaction'))
      .where('id', '=', answer.body.data.id)
      .executeTakeFirstOrThrow()
    expect(operator.transaction).toBe(row.transaction)
  })

  it('records a failure when the change fails after the row was written', async () => {
    await sql`
      create function refuse_at_commit() returns trigger language plpgsql as $$
      begin
        raise exception 'the change fails at the last moment';
      end $$`.execute(app.core.db)
    await sql`
      create constraint trigger refuse_at_commit after insert on operators
      deferrable initially deferred for each row execute function refuse_at_commit()`.execute(
      app.core.db,
    )
    try {
      const answer = await owner.post(OPERATORS, newcomer('never@ops.test'))
      expect(answer).toMatchObject({ status: 500, body: { msg: 'Internal server error' } })
      expect(await rowOf(answer)).toMatchObject({ result: 'failure', status_code: 500 })
      const found = await owner.get(`${OPERATORS}?q=never@ops.test`)
      expect(found.body.data.items).toEqual([])
    } finally {
      await sql`drop function refuse_at_commit cascade`.execute(app.core.db)
    }
  })

  it('rolls back the change when the audit row cannot be stored', async () => {
    const other = await app.operator('support')
    await sql`alter table operator_audit add constraint no_updates check (action <> 'update_operator') not valid`.execute(
      app.core.db,
    )
    try {
      const answer = await owner.put(`${OPERATORS}/${other.id}`, { role: 'owner' })
      expect(answer.status).toBe(500)
      expect((await owner.get(`${OPERATORS}/${other.id}`)).body.data.role).toBe('support')
    } finally {
      await sql`alter table operator_audit drop constraint no_updates`.execute(app.core.db)
    }
  })
})
