import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from './support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  await acme.post('/api/v1/domains/', { domain: 'second.test', dkim_enabled: false })
  for (const [source, destination] of [
    ['sales@acme.test', 'anna@elsewhere.example'],
    ['info@second.test', 'ben@elsewhere.example'],
    ['support@acme.test', 'anna@elsewhere.example'],
  ]) {
    await acme.post('/api/v1/aliases/add', { source, destination })
  }
  await acme.post('/api/v1/aliases/edit', { items: ['support@acme.test'], attr: { active: 0 } })
  for (const username of ['zeta', 'alpha', 'beta']) {
    await acme.post('/api/v1/smtp-credentials/', {
      domain_id: acme.domainId,
      username: `${username}-login`,
      name: `Login of ${username}`,
    })
  }
  await globex.post('/api/v1/smtp-credentials/', {
    domain_id: globex.domainId,
    username: 'alpha-of-globex',
  })
  for (const name of ['Front Desk', 'Board']) {
    const email = `${name.toLowerCase().replace(' ', '-')}@acme.test`
    await acme.post('/api/v1/shared-mailboxes', { email, name })
  }
})
afterAll(() => app.stop())

const names = async (path: string, pick: (data: never) => string[]) => {
  const { status, body } = await acme.get(path)
  expect(body).toMatchObject({ type: 'success' })
  expect(status).toBe(200)
  return pick(body.data as never)
}

it.each([
  ['q=ANNA', ['sales@acme.test']],
  ['q=anna&active=false', ['support@acme.test']],
  ['domain=Second.test', ['info@second.test']],
  ['domain=globex.test', []],
  ['sort_by=source&sort_dir=desc', ['sales@acme.test', 'info@second.test']],
  ['sort_by=created_at', ['sales@acme.test', 'info@second.test']],
  ['q=%25', []],
])('aliases: %s', async (query, expected) => {
  const sources = await names(`/api/v1/aliases/get/all?${query}`, (rows: { source: string }[]) =>
    rows.map(({ source }) => source),
  )
  expect(sources).toEqual(expected)
})

it.each([
  ['', ['beta-login', 'alpha-login', 'zeta-login']],
  ['sort_by=username', ['zeta-login', 'beta-login', 'alpha-login']],
  ['sort_by=username&sort_dir=asc', ['alpha-login', 'beta-login', 'zeta-login']],
  ['q=alpha', ['alpha-login']],
  ['q=LOGIN+OF+z', ['zeta-login']],
  ['active=false', []],
  ['sort_by=last_used_at&sort_dir=asc&limit=1', ['zeta-login']],
])('SMTP credentials: %s', async (query, expected) => {
  const usernames = await names(
    `/api/v1/smtp-credentials/?${query}`,
    ({ credentials }: { credentials: { username: string }[] }) =>
      credentials.map(({ username }) => username),
  )
  expect(usernames).toEqual(expected)
})

it.each([
  ['', ['board@acme.test', 'front-desk@acme.test']],
  ['q=front', ['front-desk@acme.test']],
  ['q=desk&status=inactive', []],
])('shared mailboxes: %s', async (query, expected) => {
  const emails = await names(`/api/v1/shared-mailboxes?${query}`, (rows: { email: string }[]) =>
    rows.map(({ email }) => email),
  )
  expect(emails).toEqual(expected)
})

it.each([
  [
    '/api/v1/smtp-credentials/?sort_by=secret',
    'sort_by must be one of created_at, username, last_used_at',
  ],
  ['/api/v1/aliases/get/all?sort_by=owner', 'sort_by must be one of source, created_at'],
  ['/api/v1/aliases/get/all?active=2', "active must be 'true' or 'false'"],
])('%s is refused', async (path, msg) => {
  expect(await acme.get(path)).toMatchObject({ status: 422, body: { msg } })
})
