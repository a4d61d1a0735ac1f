import { compare } from 'bcrypt'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { type Doveadm, type Mood, startDoveadm } from '../../../test/support/doveadm.ts'

const PATH = '/api/v1/smtp-credentials/'

let app: App
let doveadm: Doveadm
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  doveadm = await startDoveadm('the key')
  app = await startApp({ env: { DOVEADM_URL: doveadm.url, DOVEADM_API_KEY: 'the key' } })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  await doveadm.stop()
})

beforeEach(() => {
  doveadm.state.mood = 'well'
  doveadm.asked.length = 0
})

const create = async (body: object = {}) =>
  (await acme.post(PATH, { domain_id: acme.domainId, ...body })).body.data
const hashOf = async (id: string) => {
  const { secret_hash } = await app.core.db
    .selectFrom('smtp_credentials')
    .select('secret_hash')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return secret_hash
}
const eventsOf = async (id: string): Promise<string[]> =>
  (await acme.get(`${PATH}${id}/events`)).body.data.events.map(
    ({ event }: { event: string }) => event,
  )

describe('changing an SMTP credential', () => {
  it.each<[string, object, string]>([
    ['nothing', {}, 'No updatable fields provided'],
    ['what is unknown', { unheard_of: 'x', password: 'x' }, 'No updatable fields provided'],
    [
      'what cannot be changed',
      { username: 'other' },
      'Nothing was changed: username cannot be changed here',
    ],
    ['a list that is none', { allowed_ips: {} }, 'allowed_ips must be a list'],
    [
      'an entry that is no text',
      { allowed_ips: [null] },
      'allowed_ips entries must be non-empty strings',
    ],
    [
      'a bad entry',
      { allowed_ips: ['1.2.3'] },
      "'1.2.3' is not a valid IP address or CIDR network",
    ],
    [
      'an enforced list without entries',
      { ip_allowlist_enabled: true },
      'ip_allowlist_enabled requires at least one allowed_ips entry',
    ],
    [
      'no answer to a yes or no',
      { ip_allowlist_enabled: null },
      "ip_allowlist_enabled must be 'true' or 'false'",
    ],
    ['a bad expiry', { expires_at: '1' }, "'1' is not a valid ISO-8601 timestamp"],
    ['an expiry in the past', { expires_at: '2020-01-01' }, 'expires_at must be in the future'],
    ['a limit of nothing', { daily_limit: 0 }, 'daily_limit must be at least 1'],
    ['a fraction', { hourly_limit: 1.5 }, 'hourly_limit must be a whole number or null'],
  ])('rejects %s and changes nothing', async (_what, body, msg) => {
    const { id, secret: _secret, ...before } = await create()
    const answer = await acme.patch(`${PATH}${id}`, body)
    expect(answer).toMatchObject({ status: 422, body: { type: 'error', msg } })
    expect(answer.body.detail).toHaveLength(1)
    expect((await acme.get(`${PATH}${id}`)).body.data).toEqual({ id, ...before })
    expect(await eventsOf(id)).toEqual(['created'])
    expect(doveadm.flushes()).toEqual([])
  })

  it('rejects an empty allowlist while it is enforced, and accepts both changes in one request', async () => {
    const { id } = await create({ allowed_ips: ['192.0.2.1'], ip_allowlist_enabled: true })
    expect(await acme.patch(`${PATH}${id}`, { allowed_ips: [] })).toMatchObject({
      status: 422,
      body: { msg: 'ip_allowlist_enabled requires at least one allowed_ips entry' },
    })
    const both = { allowed_ips: [], ip_allowlist_enabled: false }
    expect((await acme.patch(`${PATH}${id}`, both)).body.data).toMatchObject(both)
  })

  it('keeps absent fields and clears null fields', async () => {
    const sent = {
      name: 'Invoices',
      expires_at: '2031-01-01T00:00:00Z',
      hourly_limit: 5,
      daily_limit: 50,
    }
    const { id } = await create(sent)
    const one = await acme.patch(`${PATH}${id}`, { hourly_limit: 7 })
    expect(one).toMatchObject({
      status: 200,
      body: {
        msg: 'SMTP credential updated successfully',
        data: { ...sent, expires_at: '2031-01-01T00:00:00.000Z', hourly_limit: 7 },
      },
    })
    const none = { name: null, expires_at: null, hourly_limit: null, daily_limit: null }
    const cleared = await acme.patch(`${PATH}${id}`, none)
    expect(cleared.body.data).toMatchObject(none)
    expect(cleared.body.data.updated_at > cleared.body.data.created_at).toBe(true)
  })

  it('flushes the cached login only when a field that affects logins changes', async () => {
    const { id, username } = await create()
    const plain = await acme.patch(`${PATH}${id}`, { name: 'x', hourly_limit: 1, daily_limit: 1 })
    expect(plain.body.data).not.toHaveProperty('cache_flushed')
    expect(doveadm.flushes()).toEqual([])
    for (const body of [
      { allowed_ips: ['192.0.2.0/24'] },
      { ip_allowlist_enabled: true },
      { expires_at: '' },
    ]) {
      expect((await acme.patch(`${PATH}${id}`, body)).body.data.cache_flushed).toBe(true)
    }
    expect(doveadm.flushed()).toEqual([username, username, username])
  })

  it('applies both of two concurrent changes', async () => {
    const { id } = await create()
    await Promise.all([
      acme.patch(`${PATH}${id}`, { name: 'both' }),
      acme.patch(`${PATH}${id}`, { daily_limit: 9 }),
    ])
    expect((await acme.get(`${PATH}${id}`)).body.data).toMatchObject({
      name: 'both',
      daily_limit: 9,
    })
  })
})

describe('rotating an SMTP credential', () => {
  it('replaces the secret, also a chosen one, and keeps a revoked credential revoked', async () => {
    const password = 'correct-horse-battery-9'
    const { id, username } = await create({ password })
    await acme.post(`${PATH}${id}/revoke`)
    const answer = await acme.post(`${PATH}${id}/rotate`)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'SMTP credential rotated successfully',
        data: { id, username, active: false, cache_flushed: true },
      },
    })
    const { secret, prefix } = answer.body.data
    expect(secret).toMatch(/^[A-Za-z0-9_-]{40}$/)
    expect(prefix).toBe(secret.slice(0, 8))
    expect(await compare(secret, await hashOf(id))).toBe(true)
    expect(await compare(password, await hashOf(id))).toBe(false)
    expect(doveadm.flushed()).toEqual([username, username])
    expect((await acme.get(`${PATH}${id}`)).text).not.toContain(secret)
    expect((await acme.get(PATH)).text).not.toContain(secret)
  })
})

describe('revoking and enabling an SMTP credential', () => {
  it('can be repeated: flushes the cache each time and records only changes', async () => {
    const { id, username } = await create()
    for (const [verb, active, msg] of [
      ['revoke', false, 'SMTP credential revoked'],
      ['revoke', false, 'SMTP credential revoked'],
      ['enable', true, 'SMTP credential enabled'],
      ['enable', true, 'SMTP credential enabled'],
    ] as const) {
      expect(await acme.call('POST', `${PATH}${id}/${verb}`)).toMatchObject({
        status: 200,
        body: { msg, data: { id, active, cache_flushed: true } },
      })
    }
    expect(await eventsOf(id)).toEqual(['enabled', 'revoked', 'created'])
    expect(doveadm.flushed()).toEqual(Array(4).fill(username))
  })

  it('records one of two concurrent revokes', async () => {
    const { id } = await create()
    const answers = await Promise.all([1, 2].map(() => acme.post(`${PATH}${id}/revoke`)))
    expect(answers.map(({ body }) => body.data.active)).toEqual([false, false])
    expect(await eventsOf(id)).toEqual(['revoked', 'created'])
  })

  it('sends doveadm its API key and the login to flush', async () => {
    const { id, username } = await create()
    await acme.post(`${PATH}${id}/revoke`)
    expect(doveadm.flushes()).toMatchObject([
      {
        method: 'POST',
        path: '/doveadm/v1',
        headers: { authorization: 'X-Dovecot-API dGhlIGtleQ==' },
        commands: [['authCacheFlush', { user: [username] }, expect.any(String)]],
      },
    ])
  })

  it.each<[Mood]>([['unknown command'], ['wrong key'], ['garbage']])(
    'revokes although the cache flush fails with: %s',
    async (mood) => {
      const { id } = await create()
      doveadm.state.mood = mood
      const answer = await acme.post(`${PATH}${id}/revoke`)
      expect(answer).toMatchObject({
        status: 200,
        body: { data: { active: false, cache_flushed: false } },
      })
      doveadm.state.mood = 'well'
      const again = await acme.post(`${PATH}${id}/revoke`)
      expect(again.body.data.cache_flushed).toBe(true)
    },
  )
})

describe('deleting an SMTP credential', () => {
  it('deletes it, flushes the cache, and succeeds again when it is absent', async () => {
    const { id, username } = await create()
    const answer = await acme.delete(`${PATH}${id}`)
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({
      type: 'success',
      msg: 'SMTP credential deleted successfully',
      data: { cache_flushed: true },
    })
    expect(doveadm.flushed()).toEqual([username])
    expect((await acme.delete(`${PATH}${id}`)).body).toEqual({
      type: 'success',
      msg: 'SMTP credential already absent',
      data: { cache_flushed: false },
    })
    expect((await acme.get(`${PATH}${id}`)).status).toBe(404)
    expect(await eventsOf(id)).toEqual(['deleted', 'created'])
    expect((await create({ username })).username).toBe(username)
  })

  it('records one of two concurrent deletions', async () => {
    const { id } = await create()
    const answers = await Promise.all([1, 2].map(() => acme.delete(`${PATH}${id}`)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await eventsOf(id)).toEqual(['deleted', 'created'])
  })
})
