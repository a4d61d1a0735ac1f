import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { type Doveadm, startDoveadm } from '../../test/support/doveadm.ts'
import { vault } from '../lib/vault.ts'
import { DoveadmAway } from './doveadm.ts'
import { endSessions } from './end-sessions.ts'
import { hostDoveadmKey } from './mail-hosts.ts'

const ROOT_KEY = 'a root key for the keys of the hosts'
const HOSTS = '/api/v1/platform/mail-hosts'
const NAMES = ['front', 'one', 'two'] as const

let app: App
const servers = {} as Record<(typeof NAMES)[number], Doveadm>
const ids: Record<string, string> = {}
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  for (const name of NAMES) {
    servers[name] = await startDoveadm(hostDoveadmKey(vault(ROOT_KEY), name))
  }
  app = await startApp({
    env: { SVC_SECRET_KEY: ROOT_KEY, DOVEADM_URL: servers.front.url, DOVEADM_API_KEY: 'unused' },
  })
  const admin = await app.operator('admin')
  for (const name of NAMES) {
    const { status, text, body } = await admin.post(HOSTS, {
      name,
      roles: [name === 'front' ? 'proxy' : 'backend'],
      address: '127.0.0.1',
      doveadm_url: servers[name].url,
    })
    expect(status, text).toBe(201)
    ids[name] = body.data.id
  }
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  servers.one.status.set(acme.email, { messages: 1, vsize: 10 })
  servers.two.status.set(globex.email, { messages: 2, vsize: 20 })
})
afterAll(async () => {
  await app.stop()
  for (const server of Object.values(servers)) await server.stop()
})
beforeEach(() => {
  for (const server of Object.values(servers)) {
    server.asked.length = 0
    server.state.mood = 'well'
  }
})

const status = (user: string) =>
  ['mailboxStatus', { user, field: ['messages'], mailboxMask: ['*'] }] as const
const setState = (name: string, state: 'active' | 'away') =>
  app.core.db
    .updateTable('mail_hosts')
    .set({ state })
    .where('id', '=', ids[name] as string)
    .execute()

it('sends each command to the host of its mailbox and returns the answers in order', async () => {
  const commands = [globex.email, acme.email, 'nobody@nowhere.test'].map(status)
  const answers = await app.core.doveadm.run(commands)
  expect(answers.map(({ rows }) => rows?.[0]?.messages)).toEqual(['2', '1', undefined])
  expect(answers[2]).toMatchObject({ exitCode: 67 })
  expect(JSON.stringify(servers.front.asked)).not.toContain('mailboxStatus')
})

it('flushes a login on the host of its mailbox and on every proxy', async () => {
  expect(await app.core.authCache.flush([acme.email, 'an-smtp-credential'])).toBe(true)
  // The app flushes other logins too, when it sees new ones.
  const named = [acme.email, 'an-smtp-credential']
  const flushed = (name: (typeof NAMES)[number]) =>
    named.filter((login) => servers[name].flushed().includes(login))
  expect(flushed('front')).toEqual(named)
  expect(flushed('one')).toEqual([acme.email])
  expect(flushed('two')).toEqual([])
})

it('fails only the commands for mailboxes of a host that does not answer', async () => {
  servers.two.state.mood = 'garbage'
  const answers = await app.core.doveadm.run([status(acme.email), status(globex.email)])
  expect(answers[0]?.rows?.[0]).toMatchObject({ messages: '1' })
  expect(answers[1]).toMatchObject({ exitCode: 75 })
  expect(await app.core.authCache.flush([acme.email])).toBe(true)
  expect(await app.core.authCache.flush([globex.email])).toBe(false)
  await expect(app.core.doveadm.run([status(globex.email)])).rejects.toThrow(DoveadmAway)
})

it('does not call a host that is away, which verifies no password', async () => {
  await setState('two', 'away')
  await expect(app.core.doveadm.run([status(globex.email)])).rejects.toThrow(/two is away/)
  expect(await app.core.authCache.flush([globex.email])).toBe(true)
  expect(servers.two.asked).toEqual([])
  expect(servers.front.flushed()).toContain(globex.email)
  await setState('two', 'active')
})

it('ends the sessions of a login on its host, and of a deleted mailbox on every backend', async () => {
  const deleted = 'deleted@acme.test'
  expect(await endSessions(app.core.doveadm, [acme.email, deleted])).toEqual([])
  expect(servers.one.kicked()).toEqual([acme.email, deleted])
  expect(servers.two.kicked()).toEqual([deleted])
  expect(servers.front.kicked()).toEqual([])
  servers.two.state.mood = 'garbage'
  expect(await endSessions(app.core.doveadm, [acme.email, deleted])).toEqual([deleted])
  servers.one.state.mood = 'garbage'
  expect(await endSessions(app.core.doveadm, [acme.email])).toEqual([acme.email])
})

it('does not report a flush that a proxy has not confirmed', async () => {
  servers.front.state.mood = 'temporary failure'
  expect(await app.core.authCache.flush([acme.email])).toBe(false)
})
