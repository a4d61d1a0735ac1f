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
  ['active=any', ['info@second.test', 'sales@acme.test', 'support@acme.test']],
])('GET /aliases/get/all?%s returns the matching aliases in order', async (query, expected) => {
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
])(
  'GET /smtp-credentials/?%s returns the matching credentials in order',
  async (query, expected) => {
    const usernames = await names(
      `/api/v1/smtp-credentials/?${query}`,
      ({ credentials }: { credentials: { username: string }[] }) =>
        credentials.map(({ username }) => username),
    )
    expect(usernames).toEqual(expected)
  },
)

it.each([
  ['', ['board@acme.test', 'front-desk@acme.test']],
  ['q=front', ['front-desk@acme.test']],
  ['q=desk&status=inactive', []],
])(
  'GET /shared-mailboxes?%s returns the matching shared mailboxes in order',
  async (query, expected) => {
    const emails = await names(`/api/v1/shared-mailboxes?${query}`, (rows: { email: string }[]) =>
      rows.map(({ email }) => email),
    )
    expect(emails).toEqual(expected)
  },
)

it.each([
  [
    '/api/v1/smtp-credentials/?sort_by=secret',
    'sort_by must be one of created_at, username, last_used_at',
  ],
  ['/api/v1/aliases/get/all?sort_by=owner', 'sort_by must be one of source, created_at'],
  ['/api/v1/aliases/get/all?active=2', "active must be 'true' or 'false'"],
])('GET %s responds with 422', async (path, msg) => {
  expect(await acme.get(path)).toMatchObject({ status: 422, body: { msg } })
})

it.each([
  ['/api/v1/aliases/get/all?per_page=1', '2'],
  ['/api/v1/aliases/get/all?per_page=1&active=any', '3'],
  ['/api/v1/aliases/get/all?per_page=1&page=9', '2'],
  ['/api/v1/aliases/get/all?q=anna&active=any&per_page=1', '2'],
  ['/api/v1/aliases/get/all?domain=elsewhere.example', '0'],
  ['/api/v1/aliases/get/sales%40acme.test', '1'],
  ['/api/v1/shared-mailboxes?per_page=1', '2'],
  ['/api/v1/shared-mailboxes', '2'],
  ['/api/v1/shared-mailboxes?q=board&per_page=1', '1'],
])('GET %s counts all rows in X-Total-Count', async (path, total) => {
  const { status, headers } = await acme.get(path)
  expect(status).toBe(200)
  expect(headers['x-total-count']).toBe(total)
})

it('counts the messages of a trace in X-Total-Count', async () => {
  const support = await app.operator('support')
  const { headers, body } = await support.get('/api/v1/message-trace/trace?limit=1')
  expect(headers['x-total-count']).toBe(String(body.total))
})
