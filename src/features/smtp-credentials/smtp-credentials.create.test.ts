import { compare } from 'bcrypt'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'

const PATH = '/api/v1/smtp-credentials/'
const CHOSEN = 'correct-horse-battery-9'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  // The hashing cost of production, because a test reads the stored hash.
  app = await startApp({ env: { SVC_HASHING_COST: 'standard' } })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const create = (body: object = {}) => acme.post(PATH, { domain_id: acme.domainId, ...body })
const hashOf = async (id: string) => {
  const { secret_hash } = await app.core.db
    .selectFrom('smtp_credentials')
    .select('secret_hash')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return secret_hash
}

describe('creating an SMTP credential', () => {
  it('generates login and secret, and returns the secret once', async () => {
    const answer = await create()
    expect(answer).toMatchObject({
      status: 201,
      body: { type: 'success', msg: 'SMTP credential created successfully' },
    })
    const { secret, ...credential } = answer.body.data
    expect(credential).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      organization_id: acme.organizationId,
      domain_id: acme.domainId,
      username: expect.stringMatching(/^acme-test-smtp-[0-9a-f]{8}$/),
      name: null,
      prefix: secret.slice(0, 8),
      created_by: `api-key:${acme.organizationId}`,
      allowed_ips: [],
      ip_allowlist_enabled: false,
      expires_at: null,
      hourly_limit: null,
      daily_limit: null,
      tracking_enabled: true,
      last_used_at: null,
      active: true,
      created_at: expect.stringMatching(/Z$/),
      updated_at: credential.created_at,
    })
    expect(secret).toMatch(/^[A-Za-z0-9_-]{40}$/)
    const hash = await hashOf(credential.id)
    expect(hash).toMatch(/^\$2b\$10\$/)
    expect(await compare(secret, hash)).toBe(true)
    const shown = await acme.get(`${PATH}${credential.id}`)
    expect(shown.body).toEqual({
      type: 'success',
      msg: 'SMTP credential retrieved successfully',
      data: credential,
    })
  })

  it('accepts a chosen login and password, and never returns the password', async () => {
    const sent = {
      username: 'Invoices+1@ACME.test',
      password: CHOSEN,
      name: 'Invoices & <more>',
      allowed_ips: [' 192.0.2.7/24 ', '2001:db8::/32', '198.51.100.1'],
      ip_allowlist_enabled: true,
      expires_at: '2031-05-01T02:00:00+02:00',
      hourly_limit: 1,
      daily_limit: 2_147_483_647,
      created_by: '🐎'.repeat(255),
      active: false,
      organization_id: globex.organizationId,
    }
    const answer = await create(sent)
    expect(answer.status).toBe(201)
    expect(answer.body.data).toMatchObject({
      username: 'invoices+1@acme.test',
      organization_id: acme.organizationId,
      prefix: null,
      name: 'Invoices & <more>',
      allowed_ips: ['192.0.2.7/24', '2001:db8::/32', '198.51.100.1'],
      ip_allowlist_enabled: true,
      expires_at: '2031-05-01T00:00:00.000Z',
      hourly_limit: 1,
      daily_limit: 2_147_483_647,
      created_by: sent.created_by,
      active: true,
    })
    expect(answer.body.data).not.toHaveProperty('secret')
    expect(answer.text).not.toContain(CHOSEN.slice(0, 4))
    expect(await compare(CHOSEN, await hashOf(answer.body.data.id))).toBe(true)
  })

  it('treats null and empty text like an omitted field', async () => {
    const nothing = { username: null, password: null, name: null, hourly_limit: null }
    const answer = await create({ ...nothing, expires_at: '', created_by: '' })
    expect(answer.body.data).toMatchObject({
      expires_at: null,
      created_by: `api-key:${acme.organizationId}`,
      secret: expect.any(String),
    })
  })

  it('returns the same secret to an idempotent retry, and creates one credential', async () => {
    const more = { headers: { 'idempotency-key': 'create-once' } }
    const body = { domain_id: acme.domainId, username: 'retried' }
    const first = await acme.post(PATH, body, more)
    const again = await acme.post(PATH, body, more)
    expect(first.status).toBe(201)
    expect(again.text).toBe(first.text)
    expect(again.headers['idempotency-replayed']).toBe('true')
    const kept = await app.core.db.selectFrom('idempotency_keys').selectAll().execute()
    const text = kept.map(({ response }) => response?.toString('latin1')).join()
    expect(text).not.toContain(first.body.data.secret)
  })

  it('retries with another name when a generated one exists, up to a limit', async () => {
    // A sequence is not rolled back, so it counts the attempts.
    await sql`create sequence attempts`.execute(app.core.db)
    await sql`create function pretend_taken() returns trigger language plpgsql as $$
      begin
        if nextval('attempts') % 10 between 1 and tg_argv[0]::int then
          raise unique_violation using constraint = 'smtp_credentials_username';
        end if;
        return new;
      end $$`.execute(app.core.db)
    const takenFor = (attempts: number) =>
      sql`create or replace trigger taken before insert on smtp_credentials
        for each row execute function pretend_taken(${sql.lit(String(attempts))})`.execute(
        app.core.db,
      )
    await takenFor(4)
    expect((await create()).status).toBe(201)
    await sql`select setval('attempts', 10)`.execute(app.core.db)
    await takenFor(9)
    expect((await create()).status).toBe(409)
    await sql`drop trigger taken on smtp_credentials`.execute(app.core.db)
  })
})
