import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'

const HOSTS = '/api/v1/platform/mail-hosts'
const MOVES = '/api/v1/platform/mailbox-moves'
const ADDRESS = '127.0.0.1'
/** No server listens there. */
const URL = 'http://127.0.0.1:9'

let app: App
let admin: Awaited<ReturnType<App['operator']>>
let acme: Awaited<ReturnType<App['tenant']>>
const ids: Record<string, string> = {}
beforeAll(async () => {
  app = await startApp()
  admin = await app.operator('admin')
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

const add = (name: string, roles: string[], more: object = {}) =>
  admin.post(HOSTS, { name, roles, address: ADDRESS, doveadm_url: URL, ...more })

const placeOf = async (login: string) => {
  const { rows } = await sql<{ name: string | null }>`
    select h.name from edge.place(${login}) p
    left join mail_hosts h on h.id = p.host_id`.execute(app.core.db)
  return rows[0]?.name
}
const transportOf = async (address: string) => {
  const { rows } = await sql<{ transport: string }>`
    select edge.transport(${address}) as transport`.execute(app.core.db)
  return rows[0]?.transport
}
const mailbox = async (tenant: typeof acme, name: string) => {
  const email = `${name}@${tenant.domain}`
  const made = await tenant.post('/api/v1/mailboxes/email-accounts', { email, password: PASSWORD })
  expect(made.status, made.text).toBe(201)
  return email
}

it('places no mailbox while there are no mail hosts', async () => {
  expect(await placeOf(acme.email)).toBeNull()
  expect((await admin.get(HOSTS)).body.data.items).toEqual([])
})

it('refuses a host with contradictory roles, without Dovecot, or with the name of another', async () => {
  expect((await add('one', ['backend', 'proxy'])).status).toBe(422)
  expect((await add('one', ['backend'], { doveadm_url: undefined })).status).toBe(422)
  expect((await add('Not A Name', ['backend'])).status).toBe(422)
  expect((await add('front', ['proxy', 'mx'])).status).toBe(201)
  expect((await add('front', ['proxy'])).status).toBe(409)
  const support = await app.operator('support')
  expect((await support.get(HOSTS)).status).toBe(200)
  const body = { name: 'x', roles: ['proxy'], address: ADDRESS, doveadm_url: URL }
  expect((await support.post(HOSTS, body)).status).toBe(403)
})

it('puts existing mailboxes on the first backend, new organizations on the emptiest', async () => {
  for (const name of ['one', 'two']) {
    const { status, body } = await add(name, ['backend'])
    expect(status).toBe(201)
    ids[name] = body.data.id
  }
  expect(await placeOf(acme.email)).toBe('one')
  const globex = await app.tenant('globex')
  expect(await placeOf(globex.email)).toBe('two')
  // An organization stays together.
  expect(await placeOf(await mailbox(acme, 'next'))).toBe('one')
  expect(await transportOf(acme.email)).toBe(`lmtp:inet:${ADDRESS}:24`)
  const { body } = await admin.get(`${HOSTS}/${ids.one}`)
  expect(body.data).toMatchObject({ mailboxes: 2, open_moves: 0, state: 'active', imap_port: 993 })
})

it('lets only the host of a mailbox serve it', async () => {
  const on = async (host: string, service: string) => {
    const { rows } = await sql<{ owned: boolean; tempfail: string | null }>`
      select owned, tempfail
      from edge.mailbox_on(${host}, ${acme.email}, ${service})`.execute(app.core.db)
    return rows[0]
  }
  expect(await on('one', 'imap')).toEqual({ owned: true, tempfail: null })
  expect(await on('two', 'lmtp')).toEqual({ owned: false, tempfail: 'yes' })
  expect(await on('two', 'doveadm')).toEqual({ owned: false, tempfail: null })
})

it('keeps a host that has mailboxes, and the last proxy', async () => {
  const refused = await admin.delete(`${HOSTS}/${ids.one}`)
  expect(refused).toMatchObject({ status: 409, body: { error_code: 'MAIL_HOST_IN_USE' } })
  const { items } = (await admin.get(HOSTS)).body.data
  const front = items.find(({ name }: { name: string }) => name === 'front')
  expect((await admin.delete(`${HOSTS}/${front.id}`)).status).toBe(409)
})

it('does not put new mailboxes on a host that is away, whose mail waits', async () => {
  await admin.put(`${HOSTS}/${ids.two}`, { state: 'away' })
  const initech = await app.tenant('initech')
  expect(await placeOf(initech.email)).toBe('one')
  const { rows } = await sql<{ email: string }>`
    select login_of_mailbox(mailbox_id) as email from mailbox_places
    where host_id = ${ids.two}`.execute(app.core.db)
  expect(await transportOf(rows[0]?.email ?? '')).toMatch(/^retry:4\.3\.0 /)
  // Nothing answers there, so it may have logins in its cache that were revoked meanwhile.
  expect((await admin.put(`${HOSTS}/${ids.two}`, { state: 'active' })).status).toBe(503)
  await sql`update mail_hosts set state = 'active' where id = ${ids.two}`.execute(app.core.db)
})

it('moves a shared mailbox with its members, and cancels', async () => {
  const email = `desk@${acme.domain}`
  const desk = await acme.post('/api/v1/shared-mailboxes', { email, name: 'Desk' })
  const member = await mailbox(acme, 'member')
  await acme.post(`/api/v1/shared-mailboxes/${desk.body.data.id}/members`, {
    email_account_id: member,
    permission: 'full_access',
  })
  const operator = await app.operator('operator')
  const started = await operator.post(MOVES, { email: member, host_id: ids.two })
  expect(started.status, started.text).toBe(202)
  const moves = started.body.data.moves as { id: string; email: string }[]
  expect(moves.map((move) => move.email).sort()).toEqual([email, member])
  const again = await operator.post(MOVES, { email: member, host_id: ids.two })
  expect(again.status).toBe(409)
  for (const { id } of moves) {
    const cancelled = await operator.post(`${MOVES}/${id}/cancel`)
    expect(cancelled.body.data).toMatchObject({ state: 'cancelled', source: 'one', target: 'two' })
    expect((await operator.post(`${MOVES}/${id}/cancel`)).status).toBe(409)
  }
  expect(await placeOf(member)).toBe('one')
  const support = await app.operator('support')
  expect((await support.post(MOVES, { email: member, host_id: ids.two })).status).toBe(403)
})

it('moves a new member to the host of the shared mailbox', async () => {
  const far = await mailbox(acme, 'far')
  await sql`
    update mailbox_places set host_id = ${ids.two}
    where mailbox_id = (select id from email_accounts where email = ${far})`.execute(app.core.db)
  const email = `office@${acme.domain}`
  const { body } = await acme.post('/api/v1/shared-mailboxes', { email, name: 'Office' })
  await sql`
    update mailbox_places set host_id = ${ids.one}
    where mailbox_id = ${body.data.id}`.execute(app.core.db)
  await acme.post(`/api/v1/shared-mailboxes/${body.data.id}/members`, {
    email_account_id: far,
    permission: 'read_only',
  })
  const { items } = (await admin.get(MOVES)).body.data
  expect(items).toContainEqual(
    expect.objectContaining({
      email: far,
      source: 'two',
      target: 'one',
      // The job may have begun; without a Dovecot it cannot go on.
      state: expect.stringMatching(/^(waiting|copying)$/),
    }),
  )
})

it('drains a backend when there is another one', async () => {
  await admin.put(`${HOSTS}/${ids.two}`, { state: 'away' })
  const refused = await admin.post(`${HOSTS}/${ids.one}/drain`)
  expect(refused).toMatchObject({ status: 409, body: { error_code: 'NO_OTHER_BACKEND' } })
  await sql`update mail_hosts set state = 'active' where id = ${ids.two}`.execute(app.core.db)
  const { mailboxes } = (await admin.get(`${HOSTS}/${ids.one}`)).body.data
  const drained = await admin.post(`${HOSTS}/${ids.one}/drain`)
  expect(drained.body.data).toMatchObject({ state: 'draining', moves: mailboxes })
  expect(await placeOf(await mailbox(acme, 'later'))).toBe('two')
})
