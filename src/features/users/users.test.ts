import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../test/support/app.ts'
import { startSink } from '../../../test/support/smtp-sink.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { HOUR_MS } from '../../lib/time.ts'

const USERS = '/api/v1/users'
const LINKS = '/api/v1/auth/links'

let app: App
let sink: Awaited<ReturnType<typeof startSink>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  sink = await startSink()
  app = await startApp({
    env: {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(sink.port),
      SVC_PUBLIC_URL: 'https://mail.host.test',
    },
  })
  operator = await app.operator('admin')
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
})

const mailTo = (email: string) => waitFor(() => sink.got.find(({ to }) => to.includes(email)))
/** Quoted-printable wraps the long line of the link. */
const tokenIn = ({ data }: { data: string }) =>
  /auth\/link#([\w-]{43})/.exec(data.replace(/=\r\n/g, ''))?.[1] ?? ''
const accept = (token: string, more: object = {}) =>
  app.send('POST', `${LINKS}/accept`, { body: { token, password: PASSWORD, ...more } })

const tenantWithOwner = async (name: string) => {
  const tenant = await app.tenant(name)
  return { ...tenant, owner: await app.session('dashboard', tenant.userId) }
}
type Member = 'owner' | 'admin' | 'read_only'
const member = async (tenant: Awaited<ReturnType<typeof tenantWithOwner>>, role: Member) => {
  const email = `${role}-${Math.random().toString(36).slice(2)}@people.test`
  const invited = await operator.post(`${USERS}/`, {
    email,
    role,
    organization_id: tenant.organizationId,
  })
  expect((await accept(invited.body.data.link.split('#')[1])).status).toBe(200)
  const id = invited.body.data.id as string
  return { ...(await app.session('dashboard', id)), id, email }
}

describe('an invitation', () => {
  it('is mailed with a link that sets the password once (B3.2)', async () => {
    const { owner, organizationId } = await tenantWithOwner('inviting')
    const email = 'ada@people.test'
    const invited = await owner.post(`${USERS}/`, { email: ' Ada@People.Test ', role: 'admin' })
    expect(invited).toMatchObject({
      status: 201,
      body: { data: { email, role: 'admin', status: 'invited', organization_id: organizationId } },
    })
    expect(invited.text).not.toContain('auth/link#')
    const mail = await mailTo(email)
    expect(mail.data).toContain('Subject: Invitation to inviting')
    const token = tokenIn(mail)
    const { id } = invited.body.data
    await waitFor(
      async () =>
        (await owner.get(`${USERS}/${id}`)).body.data.open_link.mail_status === 'sent' || undefined,
    )
    const kept = await app.core.db.selectFrom('account_links').selectAll().execute()
    expect(JSON.stringify(kept)).not.toContain(token)
    expect(kept.every(({ sealed_token }) => sealed_token === null)).toBe(true)

    const about = await app.send('POST', `${LINKS}/inspect`, { body: { token } })
    expect(about.body.data).toMatchObject({
      kind: 'invitation',
      account: 'user',
      email,
      organization_name: 'inviting',
    })
    expect((await accept(token, { password: 'short' })).status).toBe(422)
    const [first, second] = await Promise.all([accept(token), accept(token)])
    expect([first.status, second.status].sort()).toEqual([200, 404])
    const { login } = await app.dashboard(email)
    expect(login.body.data.user).toMatchObject({ id, role: 'admin' })
    expect((await owner.get(`${USERS}/${id}`)).body.data).toMatchObject({
      status: 'active',
      open_link: null,
    })
    const events = await app.core.db
      .selectFrom('events')
      .select(['event', 'data'])
      .where('org_id', '=', organizationId)
      .orderBy('sequence')
      .execute()
    expect(events).toMatchObject([
      { event: 'user.invited', data: { user_id: id, role: 'admin' } },
      { event: 'user.joined', data: { user_id: id, role: 'admin' } },
    ])
    const audit = await app.core.db.selectFrom('operator_audit').selectAll().execute()
    expect(audit).toContainEqual(
      expect.objectContaining({ action: 'invite_user', organization_id: organizationId }),
    )
    expect(JSON.stringify(audit)).not.toContain(token)
  })

  it('expires, and a new one replaces it', async () => {
    const { owner } = await tenantWithOwner('expiring')
    const email = 'late@people.test'
    const { id } = (await owner.post(`${USERS}/`, { email })).body.data
    const token = tokenIn(await mailTo(email))
    app.clock.advance(72 * HOUR_MS + 1000)
    expect(await accept(token)).toMatchObject({
      status: 404,
      body: { error_code: 'LINK_INVALID' },
    })
    app.clock.reset()
    const again = await operator.post(`${USERS}/${id}/invite`)
    expect((await accept(token)).status).toBe(404)
    expect((await accept(again.body.data.link.split('#')[1])).status).toBe(200)
    expect((await operator.post(`${USERS}/${id}/invite`)).status).toBe(409)
  })

  it('goes to the administrator of a new organization and sub-organization (B3.2)', async () => {
    const created = await operator.post('/api/v1/organizations/', {
      id: 'newco',
      name: 'Newco',
      admin_email: 'Boss@Newco.Test',
      admin_name: 'The Boss',
    })
    expect(created.status).toBe(201)
    const token = tokenIn(await mailTo('boss@newco.test'))
    expect((await accept(token)).status).toBe(200)
    const boss = await app.dashboard('boss@newco.test')
    expect(boss.login.body.data.user).toMatchObject({ role: 'owner', organization_id: 'newco' })
    const sub = await operator.post('/api/v1/reseller/sub-organizations', {
      parent_org_id: 'newco',
      name: 'Customer',
      admin_email: 'boss@newco.test',
    })
    expect(sub.status).toBe(201)
    const listed = await operator.get(`${USERS}/?organization_id=${sub.body.data.id}`)
    expect(listed.body.data.items).toMatchObject([
      { email: 'boss@newco.test', role: 'owner', status: 'invited' },
    ])
    // An address signs in to one organization only.
    const again = await operator.post(`${USERS}/${listed.body.data.items[0].id}/invite`)
    expect(await accept(again.body.data.link.split('#')[1])).toMatchObject({
      status: 409,
      body: { error_code: 'ADDRESS_HAS_ACCOUNT' },
    })
    expect((await app.dashboard('boss@newco.test')).login.status).toBe(200)
  })

  it('is signed with the brand of the organization (B2.8)', async () => {
    const { owner, organizationId } = await tenantWithOwner('branded')
    const brand = { brand_name: 'Acme Mail', support_email: 'help@branded.test' }
    const admin = await app.operator('admin')
    const put = await admin.put(`/api/v1/whitelabel/config/${organizationId}`, brand)
    expect(put.status, put.text).toBe(200)
    const email = 'grace@people.test'
    expect((await owner.post(`${USERS}/`, { email })).status).toBe(201)
    const { data } = await mailTo(email)
    expect(data).toMatch(/^From: "?Acme Mail"? </m)
    expect(data).toMatch(/^Acme Mail\r\nhelp@branded\.test/m)
  })

  it('reserves no address, and says why its mail could not be sent', async () => {
    const [one, other] = [await tenantWithOwner('first'), await tenantWithOwner('second')]
    const email = 'shared@reject.test'
    expect((await one.owner.post(`${USERS}/`, { email })).status).toBe(201)
    expect(await one.owner.post(`${USERS}/`, { email })).toMatchObject({
      status: 409,
      body: { error_code: 'USER_EXISTS' },
    })
    const { id } = (await other.owner.post(`${USERS}/`, { email })).body.data
    const link = await waitFor(async () => {
      const { open_link } = (await other.owner.get(`${USERS}/${id}`)).body.data
      return open_link.mail_error === null ? undefined : open_link
    })
    expect(link.mail_error).toContain('No such user here')
  })
})

describe('the role of a user', () => {
  it('read_only reads everything and writes nothing', async () => {
    const tenant = await tenantWithOwner('reading')
    const reader = await member(tenant, 'read_only')
    expect((await reader.get('/api/v1/domains/')).status).toBe(200)
    expect((await reader.get(`${USERS}/`)).status).toBe(200)
    const refused = { status: 403, body: { msg: 'Write access required' } }
    expect(await reader.post('/api/v1/domains/', { domain: 'x.test' })).toMatchObject(refused)
    expect(await reader.post(`${USERS}/`, { email: 'x@x.test' })).toMatchObject(refused)
    expect((await reader.get('/api/v1/auth/me')).body.data.user.role).toBe('read_only')
    const promoted = await tenant.owner.put(`${USERS}/${reader.id}`, { role: 'admin' })
    expect(promoted.body.data.role).toBe('admin')
    expect((await reader.post(`${USERS}/`, { email: 'x@x.test' })).status).toBe(201)
  })

  it('admin manages all users but owners', async () => {
    const tenant = await tenantWithOwner('managing')
    const admin = await member(tenant, 'admin')
    const other = await member(tenant, 'read_only')
    const refused = { status: 403, body: { msg: /^Only an owner/ } }
    const asOwner = await admin.post(`${USERS}/`, { email: 'x@x.test', role: 'owner' })
    expect(asOwner.body.msg).toMatch(refused.body.msg)
    const path = `${USERS}/${tenant.userId}`
    for (const answer of [
      await admin.put(path, { full_name: 'Mine' }),
      await admin.delete(path),
      await admin.post(`${path}/password-reset`),
      await admin.post(`${path}/two-factor-reset`),
      await admin.post(`${path}/sessions/revoke`),
      await admin.put(`${USERS}/${other.id}`, { role: 'owner' }),
      await admin.put(`${USERS}/${admin.id}`, { role: 'read_only' }),
    ]) {
      expect(answer.status).toBe(403)
    }
    expect((await admin.put(`${USERS}/${other.id}`, { role: 'admin' })).status).toBe(200)
    const key = await app.key(tenant.organizationId)
    expect((await key.post(`${USERS}/`, { email: 'y@x.test' })).status).toBe(403)
    const adminKey = await app.key(tenant.organizationId, { permissions: { admin_access: true } })
    expect((await adminKey.delete(path)).status).toBe(403)
  })

  it('owner stays with at least one user, unless an operator decides', async () => {
    const tenant = await tenantWithOwner('owning')
    const second = await member(tenant, 'owner')
    const demote = { role: 'admin' }
    const both = await Promise.all([
      tenant.owner.put(`${USERS}/${second.id}`, demote),
      second.put(`${USERS}/${tenant.userId}`, demote),
    ])
    const statuses = both.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(200)
    expect([403, 409]).toContain(statuses[1])
    const { items } = (
      await operator.get(`${USERS}/?organization_id=${tenant.organizationId}&role=owner`)
    ).body.data
    expect(items).toHaveLength(1)
    expect((await operator.put(`${USERS}/${items[0].id}`, { is_active: false })).status).toBe(200)
  })
})

describe('a user', () => {
  it('is signed out when disabled or deleted, and comes back when enabled', async () => {
    const tenant = await tenantWithOwner('leaving')
    const person = await member(tenant, 'admin')
    const path = `${USERS}/${person.id}`
    expect((await tenant.owner.put(path, { is_active: false })).body.data.status).toBe('disabled')
    expect((await person.get('/api/v1/auth/me')).status).toBe(401)
    const from = newIp()
    expect((await app.dashboard(person.email, from)).login.status).toBe(401)
    await tenant.owner.put(path, { is_active: true })
    const back = await app.dashboard(person.email, from)
    expect(back.login.status).toBe(200)
    expect((await tenant.owner.delete(path)).status).toBe(200)
    expect((await back.get('/api/v1/auth/me')).status).toBe(401)
    expect((await tenant.owner.get(path)).status).toBe(404)
  })

  it('is not found by another organization', async () => {
    const [one, other] = [await tenantWithOwner('near'), await tenantWithOwner('far')]
    const path = `${USERS}/${other.userId}`
    for (const answer of [
      await one.owner.get(path),
      await one.owner.put(path, { role: 'read_only' }),
      await one.owner.delete(path),
      await one.owner.post(`${path}/password-reset`),
      await one.owner.get(`${path}/sessions`),
      await one.owner.post(`${path}/sessions/revoke`),
      await one.owner.delete(`${path}/sessions/${other.owner.id}`),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { msg: 'User not found' } })
    }
    const listed = await one.owner.get(`${USERS}/?organization_id=${other.organizationId}`)
    expect(listed.body.data.pagination.total).toBe(1)
    expect(listed.body.data.items[0].id).toBe(one.userId)
    expect((await other.owner.get('/api/v1/auth/me')).status).toBe(200)
  })
})
