import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../support/app.ts'
import { operations } from '../support/generated-requests.ts'
import { hostileBodies, hostileQueries, hostileRequests } from '../support/hostile-requests.ts'
import { type LabelClients, labelClients } from '../support/label-clients.ts'
import { type MeasuredServer, startMeasuredServer } from '../support/measured-server.ts'
import { cleanUp } from '../support/process.ts'
import { startSieveServer } from '../support/sieve-server.ts'

const BOUND_MS = 50

let app: App
let sieve: Awaited<ReturnType<typeof startSieveServer>>
let server: MeasuredServer
let tenant: Awaited<ReturnType<App['tenant']>>
let clientFor: LabelClients
beforeAll(async () => {
  app = await startApp()
  tenant = await app.tenant('acme')
  sieve = await startSieveServer()
  server = await startMeasuredServer(app, {
    ...sieve.env(),
    SVC_SERVICES: 'api,worker,webhooks,tracking',
  })
  clientFor = await labelClients(app, server, tenant)
})
afterAll(async () => {
  await server?.stop()
  await sieve?.stop()
  await app?.stop()
  await cleanUp()
})

const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, 'nothing')
const send = (client: Client, method: string, path: string, body?: unknown) =>
  client.call(method, path, body)

it('does not stand still for hostile bodies and queries of every route', async () => {
  const inputs = operations.flatMap(({ method, path, label, body, parameters }) => {
    const client = clientFor(label)
    const bodies = body ? hostileBodies(body) : {}
    return [
      ...Object.entries(bodies).map(([what, raw]) => ({
        name: `${method} ${path}: ${what}`,
        run: () => client.call(method, pathOf(path), undefined, { raw }),
      })),
      ...hostileQueries(parameters).map((query) => ({
        name: `${method} ${path}: query`,
        run: () => client.call(method, `${pathOf(path)}?${query}`),
      })),
    ]
  })
  expect(inputs.length).toBeGreaterThan(200)
  expect(await server.standstills(inputs, BOUND_MS)).toEqual([])
})

it('does not stand still for the most expensive input of the routes that compute (S3, S4, S9)', async () => {
  const inputs = hostileRequests(tenant).map(({ name, label, method, path, body, status }) => ({
    name,
    run: async () => {
      const answer = await send(clientFor(label), method, path, body)
      expect(`${name}: ${answer.status}`).toMatch(new RegExp(`: (${status})$`))
    },
  }))
  expect(await server.standstills(inputs, BOUND_MS)).toEqual([])
})
