import { expect } from 'vitest'
import { rescueByCommand } from '../../../src/features/platform/operators/operators.command.ts'
import { waitFor } from '../wait.ts'
import { DOMAINS, JANE, JOHN, LEA, MAILBOX, ME, OPERATOR, ROOT, SMTP, type Year } from './world.ts'

/** Two tenants sign up, prove their domains, and their people log in. */
export async function january(year: Year) {
  const root = year.root()
  const acme = await year.signUp(root, 'acme')
  const globex = await year.signUp(root, 'globex')
  year.story.tenants = { acme, globex }
  const office = await acme.dashboard()
  expect(office.login.body.data.user).toMatchObject({ role: 'owner', organization_id: 'acme' })
  const listed = (await root.get('/api/v1/organizations/')).body.data
  expect(listed.items.map(({ id }: { id: string }) => id).sort()).toEqual(['acme', 'globex'])

  const domains: Record<string, string> = {}
  for (const tenant of [acme, globex]) {
    const claim = await tenant.post(`${DOMAINS}/`, { domain: tenant.domain })
    const { id } = claim.body.data
    domains[tenant.id] = id
    expect((await year.host.receive(`x@${tenant.domain}`, 'early')).code).toBe(554)
    year.publish(claim.body.data)
    const { body } = await tenant.get(`${DOMAINS}/${id}/verify-dns`)
    expect(body.data.ownership_verified_at).toEqual(expect.any(String))
    expect(await year.events(tenant.id)).toContain('domain.ownership_verified')
  }
  const taken = await globex.post(`${DOMAINS}/`, { domain: acme.domain })
  expect(taken).toMatchObject({ status: 409, body: { error_code: 'DOMAIN_ALREADY_CLAIMED' } })
  expect((await globex.get(`${DOMAINS}/${domains.acme}`)).status).toBe(404)

  for (const email of [JANE, JOHN]) year.story.boxes[email] = await year.mailbox(acme, email)
  year.story.boxes[LEA] = await year.mailbox(globex, LEA)
  const login = async (tenant: typeof acme, name: string) =>
    (await tenant.post(`${SMTP}/`, { domain_id: domains[tenant.id], name })).body.data
  year.story.logins = { shop: await login(acme, 'shop'), crm: await login(globex, 'crm') }
  for (const email of [JANE, JOHN, LEA]) await year.deliver(email, 'welcome')

  const jane = await year.holder(JANE)
  const vacation = { enabled: true, message: 'I am skiing' }
  expect((await jane.put(`${MAILBOX}/vacation`, vacation)).status).toBe(200)
  await year.deliver(JANE, 'a question')
  const reply = await waitFor(() => year.host.sink.to('somebody@elsewhere.test')[0])
  expect(reply.data).toContain('I am skiing')
  await waitFor(async () => (await acme.get(year.pathOf(JANE))).body.data.vacation_enabled)
  expect((await jane.put(`${MAILBOX}/vacation`, { enabled: false })).status).toBe(200)

  // An invitation that is used too late, and a second one.
  const bob = 'bob@acme-office.test'
  const invited = await office.post('/api/v1/users/', { email: bob, role: 'read_only' })
  expect(invited.status, invited.text).toBe(201)
  const late = await year.linkTo(bob)
  await year.on(1, 20)
  expect((await year.acceptLink(late)).body).toMatchObject({ error_code: 'LINK_INVALID' })
  expect((await office.get(ME)).status).toBe(401)
  const again = await acme.post(`/api/v1/users/${invited.body.data.id}/invite`)
  expect(again.status, again.text).toBe(200)
  expect((await year.acceptLink(await year.linkTo(bob, 1))).status).toBe(200)
  const reader = await year.app.dashboard(bob)
  expect((await reader.get(`${DOMAINS}/`)).body.data.items).toHaveLength(1)
  expect((await reader.delete(year.pathOf(JANE))).status).toBe(403)
  expect(await year.audit('create_organization')).toHaveLength(2)
}

/** A holder and the only owner of the platform lose their phones. */
export async function february(year: Year) {
  await year.on(2)
  const { acme, globex } = year.story.tenants
  const jane = await year.holder(JANE)
  const { secret } = (await jane.post(`${MAILBOX}/two-factor/setup`)).body.data
  const code = year.app.code(secret)
  expect((await jane.post(`${MAILBOX}/two-factor/confirm`, { code })).status).toBe(200)
  const phone = await jane.post(`${MAILBOX}/app-passwords`, { name: 'Phone', scopes: ['imap'] })
  await year.on(2, 10)
  expect((await year.holder(JANE)).login.body.data).toEqual({ two_factor_required: true })
  expect((await year.holder(JANE, '000000')).login.status).toBe(401)
  // Mail programs know no second factor, so they need a password of their own.
  expect(await year.canRead(JANE)).toBe(false)
  expect(await year.canRead(JANE, { password: phone.body.data.password })).toBe(true)
  const reset = `${year.pathOf(JANE)}/two-factor-reset`
  expect((await globex.post(reset)).status).toBe(404)
  expect((await acme.post(reset)).body.data).toMatchObject({ two_factor_cleared: true })
  const back = await year.holder(JANE)
  expect((await back.get(`${MAILBOX}/two-factor`)).body.data).toMatchObject({ enabled: false })
  expect(await year.canRead(JANE)).toBe(true)
  expect(await year.events('acme')).toContain('mailbox.two_factor.reset')
  expect(await year.audit('reset_email_account_two_factor')).toHaveLength(1)

  const lost = year.root()
  const { config, db, vault } = year.app.core
  const stuck = await year.app.partialOperator(ROOT)
  expect((await stuck.post(`${OPERATOR}/mfa`, { token: '000000' })).status).toBe(401)
  expect((await stuck.get(`${OPERATOR}/me`)).status).toBe(403)
  const rescued = await rescueByCommand(db, { config, vault, email: ROOT, reason: 'phone lost' })
  expect(rescued).toMatchObject({ mfa_cleared: true })
  await year.app.core.access.settled()
  expect((await lost.get(`${OPERATOR}/me`)).status).toBe(401)
  const partial = await year.app.partialOperator(ROOT)
  expect(partial.login.body.data).toMatchObject({ mfa_enrolled: false })
  const setup = await partial.post(`${OPERATOR}/mfa/setup`)
  const token = year.app.code(setup.body.data.secret)
  expect((await partial.post(`${OPERATOR}/mfa`, { token })).status).toBe(200)
  year.replaceSecret(setup.body.data.secret)
  await year.on(2, 11)
  expect(await year.events(null)).toContain('operator.rescued')
  expect(await year.audit('rescue_operator')).toHaveLength(1)
}
