import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from './support/app.ts'
import { type LabelClients, labelClients } from './support/label-clients.ts'

interface Operation {
  'x-auth': string
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { content: { 'application/json'?: { example?: unknown } } }
}

const { paths } = JSON.parse(
  readFileSync(new URL('../openapi/v1.json', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, Operation>> }

const requests = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => {
    const example = operation.requestBody?.content['application/json']?.example
    const query = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map(({ name }) => `${name}={${name}}`)
    const url = query.length === 0 ? path : `${path}?${query.join('&')}`
    return example === undefined
      ? []
      : [[method.toUpperCase(), url, operation['x-auth'], example] as const]
  }),
)

let app: App
let tenant: Awaited<ReturnType<App['tenant']>>
let clientFor: LabelClients
beforeAll(async () => {
  app = await startApp({ env: { SVC_SELF_SERVICE_KEYS: 'true' } })
  tenant = await app.tenant('acme')
  clientFor = await labelClients(app, app, tenant)
})
afterAll(() => app.stop())

/** Names what the tenant has, so that the rules for the body are reached. */
const parameterOf = (name: string): string =>
  ({
    account_id: tenant.accountId,
    client_ip: '192.0.2.7',
    domain: tenant.domain,
    domain_id: tenant.domainId,
    email: tenant.email,
    hold_id: '1',
    org_id: tenant.organizationId,
    organization_id: tenant.organizationId,
    policy_id: '1',
    resource_type: 'domain',
    user_email: tenant.email,
  })[name] ?? '01K9ZQ5T3M8B7C6D5E4F3G2H1J'

// Finding N17: examples of the reference failed when they were sent as they are.
describe('the example of every request', () => {
  it.each(requests)('%s %s has an acceptable form', async (method, path, label, example) => {
    const url = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameterOf(name)))
    const { status, body } = await clientFor(label).call(method, url, example)
    const refusal = status === 422 && body?.detail
    expect(refusal || body?.data?.errors || [], JSON.stringify(body)).toEqual([])
    // Without mail servers some routes answer 501 or 503.
    expect(status).not.toBe(500)
  })
})
