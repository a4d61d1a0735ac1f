import { expect } from 'vitest'
import { waitFor } from '../wait.ts'
import { JANE, LEA, ME, SMTP, WHY, type Year } from './world.ts'

const FROM = 'shop@acme.test'
const THIEF = '127.0.0.66'
/** The server of this recipient never accepts mail. */
const SLOW = 'slow@defer.outside.test'

/** The servers restart with mail in flight, and nothing is lost or doubled. */
export async function march(year: Year) {
  await year.on(3)
  const { host } = year
  const { logins, sent } = year.story
  const { acme } = year.story.tenants
  const order = (to: string) => year.submit(logins.shop, FROM, to, `order of ${to}`)
  await host.stopFilter()
  expect((await order('x@outside.test')).code).toBe(451)
  year.story.refused++
  expect((await host.receive(JANE, 'held up')).code).toBe(451)
  await host.startFilter()

  const letters = Array.from({ length: 6 }, (_, n) => `in flight ${n}`)
  for (const subject of letters) expect((await host.receive(JANE, subject)).code).toBe(250)
  const buyers = [1, 2, 3].map((n) => `buyer${n}@outside.test`)
  for (const to of [...buyers, SLOW]) {
    expect((await order(to)).code).toBe(250)
    sent.acme++
  }
  const deferred = async () =>
    (await year.root().get('/api/v1/queue/queue/domain/defer.outside.test')).body.data?.deferred
  await waitFor(async () => (await deferred()) === 1)
  await host.down()
  const stateOf = async (name: string) =>
    (await year.root().get(`/api/v1/monitoring/services/${name}`)).body.data?.status
  await waitFor(async () => (await stateOf('postfix')) === 'down')
  await waitFor(async () => (await stateOf('dovecot')) === 'down')
  expect((await year.holder(JANE)).login).toMatchObject({
    status: 503,
    body: { msg: 'Mail server unavailable' },
  })
  expect((await acme.get(year.pathOf(JANE))).status).toBe(200)
  await host.up()
  await waitFor(async () => (await stateOf('postfix')) === 'up')
  await waitFor(async () => (await stateOf('dovecot')) === 'up')
  await waitFor(async () => {
    await year.root().post('/api/v1/queue/mail-queue/flush', WHY)
    const found = await year.subjects(JANE)
    return letters.every((subject) => found.includes(subject))
  })
  await waitFor(() => buyers.every((to) => host.sink.to(to)[0]))
  const found = await year.subjects(JANE)
  expect(found.filter((subject) => subject?.startsWith('in flight')).sort()).toEqual(letters)
  expect(found).not.toContain('held up')
  for (const to of buyers) expect(host.sink.to(to)).toHaveLength(1)
  await waitFor(async () => (await deferred()) === 1)
  expect((await year.holder(JANE)).login.status).toBe(200)
  const usage = await waitFor(async () => {
    const { data } = (await acme.get(`${SMTP}/${logins.shop.id}/usage?days=365`)).body
    return data.delivered === buyers.length && data
  })
  expect(usage.rejected).toBe(0)
  expect(await year.events(null)).toEqual(
    expect.arrayContaining(['health.service.down', 'health.service.up']),
  )
}

/** A stolen login sends spam, is stopped, and the neighbour notices nothing. */
export async function april(year: Year) {
  await year.on(4)
  const { host } = year
  const root = year.root()
  const { logins, sent } = year.story
  const { acme, globex } = year.story.tenants
  const credential = `${SMTP}/${logins.shop.id}`
  const usage = async () => (await acme.get(`${credential}/usage?days=365`)).body.data
  const before = await usage()
  await acme.patch(credential, { hourly_limit: 4 })
  const stolen = logins.shop
  const spam = async (n: number) =>
    (await year.submit(stolen, FROM, `target${n}@outside.test`, `win ${n}`)).code
  const codes = []
  for (let n = 1; n <= 6; n++) codes.push(await spam(n))
  expect(codes).toEqual([250, 250, 250, 250, 450, 450])
  sent.acme += 4
  year.story.refused += 2
  await waitFor(async () => (await year.events('acme')).includes('rate_limit.exceeded'))
  await waitFor(async () => (await usage()).deferred === before.deferred + 2)
  await waitFor(async () => (await usage()).delivered === before.delivered + 4)
  const sell = async (to: string) => {
    const reply = await year.submit(logins.crm, 'sales@globex.test', to, `offer to ${to}`)
    expect(reply.code, reply.text).toBe(250)
    sent.globex++
    await waitFor(() => host.sink.to(to)[0])
  }
  await sell('customer1@outside.test')

  // The thief also guesses the password of a holder; the operator blocks the IP address.
  const from = THIEF
  const failed = `/api/v1/security/failed-auth`
  await waitFor(async () => {
    expect(await year.canRead(JANE, { password: 'guess', from })).toBe(false)
    const { body } = await root.get(`${failed}?client_ip=${THIEF}&service=imap`)
    return body.data.pagination.total > 0
  })
  const block = { minutes: 60, ...WHY }
  expect((await root.post(`${failed}/${THIEF}/block`, block)).status).toBe(200)
  expect(await year.canRead(JANE, { from })).toBe(false)
  expect(await year.canRead(JANE)).toBe(true)

  const organization = '/api/v1/organizations/acme'
  expect((await root.put(organization, { active: false })).status).toBe(200)
  expect(await spam(7)).toBe(535)
  expect((await acme.get(ME)).status).toBe(401)
  expect((await acme.dashboard()).login.status).toBe(401)
  expect(await year.canRead(JANE)).toBe(false)
  expect((await host.receive(JANE, 'while suspended')).code).toBeGreaterThanOrEqual(500)
  await year.deliver(LEA, 'for the neighbour')
  await sell('customer2@outside.test')
  expect((await globex.get(ME)).status).toBe(200)

  expect((await root.put(organization, { active: true })).status).toBe(200)
  const rotated = await acme.post(`${credential}/rotate`)
  expect(rotated.body.data).toMatchObject({ cache_flushed: true })
  logins.shop = { ...stolen, secret: rotated.body.data.secret }
  expect(await host.authCode(stolen.username, stolen.secret)).toBe(535)
  expect(await host.authCode(logins.shop.username, logins.shop.secret)).toBe(235)
  await year.deliver(JANE, 'after the suspension')
  const again = () => year.submit(logins.shop, FROM, 'buyer4@outside.test', 'back to business')
  expect((await again()).code).toBe(450)
  year.story.refused++
  await acme.patch(credential, { hourly_limit: null })
  expect((await again()).code).toBe(250)
  sent.acme++
  const events = await year.events('acme')
  expect(events).toEqual(expect.arrayContaining(['org.suspended', 'org.activated']))
  expect(await year.events('globex')).not.toContain('rate_limit.exceeded')
  const trail = (await acme.get(`${credential}/events`)).text
  expect(trail).toContain('rotated')
  expect((await globex.get(`${credential}/events`)).status).toBe(404)
}
