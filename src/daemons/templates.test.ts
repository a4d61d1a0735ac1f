import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, startApp } from '../../test/support/app.ts'
import { templates } from './templates.ts'

const order = {
  name: 'Order',
  subject_template: 'Order {{ number }}',
  html_content: '<p>Hello {{ name }}</p>',
  variables: ['name', 'number'],
}

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
beforeAll(async () => {
  app = await startApp({ daemons: [templates] })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const headers = { 'x-internal-token': INTERNAL_TOKEN }
const call = (method: string, path: string, body?: object) =>
  app.send(method, path, { headers, ...(body && { body }) })

it('other services use templates of the organization that they name', async () => {
  const owner = { organization_id: acme.organizationId }
  const query = `?organization_id=${acme.organizationId}`
  const made = await call('POST', '/templates', { ...order, ...owner })
  expect(made).toMatchObject({ status: 200, body: { ...order, ...owner, version: 1 } })
  const path = `/templates/${made.body.id}`
  expect((await call('GET', `/templates${query}`)).body[0].id).toBe(made.body.id)
  const rendered = await call('POST', `${path}/render${query}`, { variables: { number: 5 } })
  expect(rendered.body).toMatchObject({ status: 'ok', subject: 'Order 5' })
  expect((await call('PUT', `${path}${query}`, { name: 'x' })).body.version).toBe(2)
  const copy = await call('POST', `${path}/duplicate${query}&new_name=y`)
  expect(copy.body).toMatchObject({ name: 'y', version: 1 })
  expect((await call('GET', `${path}/versions${query}`)).body).toHaveLength(2)
  expect((await call('GET', `${path}/stats${query}`)).body.total_renders).toBe(1)
  expect((await call('GET', '/templates/library')).body).toHaveLength(5)
  const foreign = `?organization_id=${globex.organizationId}`
  expect((await call('GET', `${path}${foreign}`)).status).toBe(404)
  expect((await call('DELETE', `${path}${query}`)).body).toMatchObject({ status: 'ok' })
  expect((await call('GET', `${path}${query}`)).status).toBe(404)
})

it('other services need the internal token', async () => {
  const answer = await app.send('GET', `/templates?organization_id=${acme.organizationId}`)
  expect(answer.status).toBe(401)
})
