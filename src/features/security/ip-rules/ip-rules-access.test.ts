import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { edgeSecrets, MASTER_USER } from '../../../edge/settings-of.ts'

const BASE = '/api/v1/security/ip-rules'
const OFFICE = '127.45.0.5'
const HOME = '127.46.0.7'
const WHY = { reason: 'agreed with the tenant' }

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp({ limiting: true })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  operator = await app.operator('operator')
})
afterAll(() => app.stop())
afterEach(async () => {
  await app.core.db.deleteFrom('ip_access_rules').execute()
  await app.core.access.settled()
})

const rule = (rule_type: string, ip_address: string, more: object = {}) =>
  operator.post(BASE, {
    rule_type,
    ip_address,
    organization_id: acme.organizationId,
    ...WHY,
    ...more,
  })
const withKey = (from: string, { apiKey } = acme) =>
  app.send('GET', '/api/v1/auth/me', { headers: { 'x-api-key': apiKey }, from })
const failures = () =>
  app.core.db
    .selectFrom('failed_auth_attempts')
    .select('id')
    .where((eb) => eb.or([eb('client_ip', '=', HOME), eb('username', '=', acme.email)]))
    .execute()

const dovecot = async (protocol: string, login: string, remote: string, more: object = {}) => {
  const port = app.limiter.policy.ports.auth
  const response = await fetch(`http://127.0.0.1:${port}/auth-policy?command=allow`, {
    method: 'POST',
    headers: { 'x-edge-key': edgeSecrets(app.core.vault).policyKey },
    body: JSON.stringify({ login, remote, protocol, ...more }),
  })
  return (await response.json()) as { status: number; msg: string }
}

const REFUSED = {
  status: 403,
  body: {
    error_code: 'ADDRESS_NOT_ALLOWED',
    msg: `Your organization does not allow access from ${HOME}; an operator of this host can change its IP rules`,
  },
}

describe('the IP rules of an organization (B8)', () => {
  it('apply to its API keys from the next request on, and to no other organization', async () => {
    expect((await withKey(HOME)).status).toBe(200)
    const { id, applies_to } = (await rule('whitelist', '127.45.0.0/16')).body.data
    expect(applies_to).toEqual(['smtp', 'mailbox', 'api'])
    expect(await withKey(HOME)).toMatchObject(REFUSED)
    expect((await withKey(OFFICE)).status).toBe(200)
    expect((await withKey(HOME, globex)).status).toBe(200)
    const platform = await app.key(null, { scope: 'platform' })
    expect((await withKey(HOME, { ...acme, apiKey: platform.apiKey })).status).toBe(200)

    await operator.put(`${BASE}/${id}`, { applies_to: ['smtp', 'mailbox'], ...WHY })
    expect((await withKey(HOME)).status).toBe(200)
    await operator.put(`${BASE}/${id}`, { applies_to: ['api'], ...WHY })
    expect((await withKey(HOME)).status).toBe(403)
    await operator.delete(`${BASE}/${id}`, WHY)
    expect((await withKey(HOME)).status).toBe(200)
    expect(await failures()).toEqual([])
  })

  it('apply to dashboard logins and to sessions that exist, except for logging out', async () => {
    const session = await app.dashboard(acme.email, HOME)
    expect((await session.get('/api/v1/auth/me')).status).toBe(200)
    await rule('blacklist', HOME)
    expect(await session.get('/api/v1/auth/me')).toMatchObject(REFUSED)
    const { login } = await app.dashboard(acme.email, HOME)
    expect(login).toMatchObject(REFUSED)
    expect(login.cookies).toEqual([])
    const other = await app.send('POST', '/api/v1/auth/login', {
      body: { email: globex.email, password: PASSWORD },
      from: HOME,
    })
    expect(other.status).toBe(200)
    expect((await session.post('/api/v1/auth/logout')).status).toBe(200)
    expect(await failures()).toEqual([])
  })

  it('apply to logins over IMAP, POP3 and ManageSieve, except for our own', async () => {
    await rule('whitelist', '127.45.0.0/16', { applies_to: ['mailbox'] })
    for (const protocol of ['imap', 'pop3', 'sieve', 'managesieve']) {
      const answer = await waitFor(async () => {
        const found = await dovecot(protocol, acme.email, HOME)
        return found.status !== 0 && found
      })
      expect(answer).toEqual({
        status: -1,
        msg: 'your address is not on the whitelist of your organization',
      })
      expect((await dovecot(protocol, acme.email, OFFICE)).status).toBe(0)
      expect((await dovecot(protocol, globex.email, HOME)).status).toBe(0)
    }
    // An unknown mailbox of the domain gets the same answer.
    expect((await dovecot('imap', `nobody@${acme.domain}`, HOME)).status).toBe(-1)
    // Sending is refused for each recipient instead, where the reason reaches the sender.
    expect((await dovecot('smtp', acme.email, HOME)).status).toBe(0)
    const master = app.core.mailServers.current().IMAP_MASTER_USER ?? MASTER_USER
    expect((await dovecot('imap', acme.email, HOME, { master })).status).toBe(0)
    expect((await withKey(HOME)).status).toBe(200)
  })

  it('refuse a login of a mailbox holder on the web before the password is checked', async () => {
    await rule('blacklist', HOME, { applies_to: ['mailbox'] })
    const login = (email_address: string) =>
      app.send('POST', '/api/v1/mailbox-auth/login', {
        body: { email_address, password: 'guess' },
        from: HOME,
      })
    expect(await login(acme.email)).toMatchObject(REFUSED)
    expect(await login(`nobody@${acme.domain}`)).toMatchObject(REFUSED)
    expect(await failures()).toEqual([])
  })

  it('need at least one known use', async () => {
    for (const applies_to of [[], ['lmtp'], ['api', 'api'], 'api']) {
      expect((await rule('blacklist', HOME, { applies_to })).status).toBe(422)
    }
  })
})
