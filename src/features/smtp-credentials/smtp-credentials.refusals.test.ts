import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'

const PATH = '/api/v1/smtp-credentials/'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({
    env: { IMAP_HOST: '127.0.0.1', IMAP_MASTER_USER: 'Keymaster', IMAP_MASTER_PASSWORD: 'secret' },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const create = (body: object = {}) => acme.post(PATH, { domain_id: acme.domainId, ...body })
const storedRows = () =>
  app.core.db
    .selectFrom('smtp_credentials')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()

describe('creating an invalid SMTP credential', () => {
  it.each<[string, object, string]>([
    ['a list that is none', { allowed_ips: '192.0.2.1' }, 'allowed_ips must be a list'],
    ['no list', { allowed_ips: null }, 'allowed_ips must be a list'],
    [
      'an entry that is no text',
      { allowed_ips: ['192.0.2.1', 7] },
      'allowed_ips entries must be non-empty strings',
    ],
    ['a blank entry', { allowed_ips: [' '] }, 'allowed_ips entries must be non-empty strings'],
    [
      'an entry that is no address',
      { allowed_ips: ['mail.acme.test'] },
      "'mail.acme.test' is not a valid IP address or CIDR network",
    ],
    [
      'a prefix that is too long',
      { allowed_ips: ['192.0.2.0/33'] },
      "'192.0.2.0/33' is not a valid IP address or CIDR network",
    ],
    [
      'an address with a zone',
      { allowed_ips: ['fe80::1%eth0'] },
      "'fe80::1%eth0' is not a valid IP address or CIDR network",
    ],
    [
      'more addresses than anybody checks',
      { allowed_ips: Array(1001).fill('192.0.2.1') },
      'allowed_ips must have at most 1000 entries',
    ],
    [
      'an enforced list without entries',
      { ip_allowlist_enabled: true },
      'ip_allowlist_enabled requires at least one allowed_ips entry',
    ],
    [
      'an expiry that is none',
      { expires_at: 'next year' },
      "'next year' is not a valid ISO-8601 timestamp",
    ],
    [
      'the 30th of February',
      { expires_at: '2031-02-30T00:00:00Z' },
      "'2031-02-30T00:00:00Z' is not a valid ISO-8601 timestamp",
    ],
    [
      'an expiry in the past',
      { expires_at: '2020-01-01T00:00:00Z' },
      'expires_at must be in the future',
    ],
    ['a limit of nothing', { hourly_limit: 0 }, 'hourly_limit must be at least 1'],
    ['a limit as text', { daily_limit: '10' }, 'daily_limit must be a whole number or null'],
    [
      'a limit nobody reaches',
      { daily_limit: 3_000_000_000 },
      'daily_limit must be at most 2147483647',
    ],
    ['a name that is too long', { name: 'n'.repeat(256) }, 'name must have at most 255 characters'],
    ['a short password', { password: 'short1' }, 'Password must be at least 12 characters long'],
    [
      'a password without digits',
      { password: 'only-letters-here' },
      'Password must contain numbers',
    ],
    [
      'a password everybody has',
      { password: 'Password1234' },
      'Password is too common; choose something less predictable',
    ],
    [
      'a password that bcrypt would cut',
      { password: `${'ä'.repeat(36)}a1` },
      'Password must be at most 72 bytes long',
    ],
    [
      'a password with a line break',
      { password: 'correct-horse\n9' },
      'Password must not contain control characters',
    ],
  ])('rejects %s', async (_what, body, msg) => {
    const { count } = await storedRows()
    const answer = await create(body)
    expect(answer).toMatchObject({ status: 422, body: { type: 'error', msg } })
    expect(answer.body.detail[0].loc).toEqual(['body', Object.keys(body)[0]])
    expect(answer.text).not.toContain('correct-horse')
    expect((await storedRows()).count).toBe(count)
  })

  it('rejects a body without a domain and a body that is no object', async () => {
    expect(await acme.post(PATH, {})).toMatchObject({
      status: 422,
      body: { msg: 'domain_id is required', detail: [{ loc: ['body', 'domain_id'] }] },
    })
    expect((await acme.call('POST', PATH)).status).toBe(422)
    expect((await acme.post(PATH, { domain_id: 7 })).status).toBe(422)
  })

  it.each([
    ['ab'],
    [''],
    ['a'.repeat(256)],
    ['two words'],
    ['tab\tbed'],
    ['\u212Aate'],
    ['quote"d'],
    ['star*red'],
    ['@acme.test'],
    ['a@b@acme.test'],
    ['ünicode'],
  ])('rejects the username %j', async (username) => {
    expect(await create({ username })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'username'] }] },
    })
  })

  it.each([['admin@globex.test'], ['nobody@globex.test'], ['x@mail.acme.test'], ['x@acme.tes']])(
    'rejects the username %s, which is not at the own domain',
    async (username) => {
      expect(await create({ username })).toMatchObject({
        status: 422,
        body: { msg: 'username may have an @ only before acme.test' },
      })
    },
  )

  it("returns 404 for an unknown or another organization's domain", async () => {
    for (const domain_id of ['nowhere', globex.domainId]) {
      expect(await create({ domain_id })).toMatchObject({
        status: 404,
        body: { msg: `Domain ${domain_id} not found` },
      })
    }
  })

  it.each(['mailbox', 'alias', 'shared mailbox'])('rejects the address of a %s', async (kind) => {
    const address = `${kind.replace(' ', '-')}@acme.test`
    const owned = { organization_id: acme.organizationId, domain_id: acme.domainId }
    if (kind === 'mailbox') {
      await app.core.db
        .insertInto('email_accounts')
        .values({ ...owned, id: kind, email: address, name: kind, password_hash: 'x' } as never)
        .execute()
    } else if (kind === 'alias') {
      const destinations = [acme.email]
      await app.core.db
        .insertInto('aliases')
        .values({ ...owned, id: kind, source: address, destination: acme.email, destinations })
        .execute()
    } else {
      await app.core.db
        .insertInto('shared_mailboxes')
        .values({ ...owned, id: kind, email: address, name: kind })
        .execute()
    }
    expect(await create({ username: address.toUpperCase() })).toMatchObject({
      status: 409,
      body: { msg: `SMTP credential ${address} already exists` },
    })
  })

  it("rejects an existing login, also another tenant's, in any letter case", async () => {
    expect((await create({ username: 'Shared.Login' })).body.data.username).toBe('shared.login')
    const { count } = await storedRows()
    for (const [tenant, username] of [
      [acme, 'shared.login'],
      [globex, 'SHARED.login'],
    ] as const) {
      expect(await tenant.post(PATH, { domain_id: tenant.domainId, username })).toMatchObject({
        status: 409,
        body: { msg: 'SMTP credential shared.login already exists' },
      })
    }
    expect((await storedRows()).count).toBe(count)
  })

  it('creates one credential for two concurrent requests with one username', async () => {
    const answers = await Promise.all(
      [acme, globex].map((tenant) =>
        tenant.post(PATH, { domain_id: tenant.domainId, username: 'raced' }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })
})

describe('S25: a reserved login name', () => {
  it.each(['admin', 'Root', 'POSTMASTER', 'mailer-daemon', 'keymaster', 'mailplane-filters'])(
    'is refused with 422 and the name of the field: %s',
    async (username) => {
      const answer = await create({ username })
      expect(answer).toMatchObject({
        status: 422,
        body: {
          detail: [
            {
              loc: ['body', 'username'],
              msg: expect.stringMatching(/is reserved; choose another/),
            },
          ],
        },
      })
    },
  )

  it('is free as the local part of an address of the own domain', async () => {
    const answer = await create({ username: `postmaster@${acme.domain}` })
    expect(answer).toMatchObject({ status: 201, body: { data: { active: true } } })
  })
})
