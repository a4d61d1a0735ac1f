import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../support/app.ts'
import {
  type Operation,
  operations,
  requestFor,
  valueMaker,
} from '../support/generated-requests.ts'
import { labelClients } from '../support/label-clients.ts'
import { type MeasuredServer, startMeasuredServer } from '../support/measured-server.ts'
import { cleanUp } from '../support/process.ts'
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts'

const SEED = 18
const REQUESTS = 10_000
const NEW_CALLERS_EVERY = 500
const BOUND_MS = 50
const MAX_ANSWER = 1024 * 1024

type Request = ReturnType<typeof requestFor>

const agent = new Agent({ keepAlive: true })
let app: App
let server: MeasuredServer
beforeAll(async () => {
  app = await startApp()
  server = await startMeasuredServer(app, {
    SVC_SERVICES: 'api,worker,webhooks,rate_limiter,tracking,delivery_optimizer',
  })
})
afterAll(async () => {
  agent.destroy()
  await server?.stop()
  await app?.stop()
  await cleanUp()
})

/** A new tenant with new sessions: requests end sessions and delete what there is. */
async function newCallers(name: string, random: SeededRandom) {
  const tenant = await app.tenant(name)
  const make = valueMaker(random, {
    organization_id: [tenant.organizationId],
    org_id: [tenant.organizationId],
    domain_id: [tenant.domainId],
    domain: [tenant.domain],
    account_id: [tenant.accountId],
    email: [tenant.email],
    user_email: [tenant.email],
  })
  return { clientFor: await labelClients(app, server, tenant), make }
}

it('answers 10,000 generated requests as described, in time, and with less than 1 MB', async () => {
  const random = seededRandom(SEED)
  const problems: string[] = []
  let accepted = 0

  async function check(client: Client, operation: Operation, request: Request) {
    const { method, path, body } = request
    const { status, text } = await client.call(method, path, body, { agent })
    const name = `${method} ${path.slice(0, 200)}`
    if (status < 300) accepted++
    if (status >= 500 && !operation.statuses.has(String(status))) {
      problems.push(`${status} ${name}: ${text.slice(0, 200)}`)
    }
    if (text.length > MAX_ANSWER) problems.push(`${text.length} bytes: ${name}`)
  }

  const slow: string[] = []
  for (let sent = 0; sent < REQUESTS; sent += NEW_CALLERS_EVERY) {
    const { clientFor, make } = await newCallers(`generated${sent}`, random)
    const inputs = Array.from({ length: NEW_CALLERS_EVERY }, () => {
      const operation = random.pick(operations)
      const request = requestFor(operation, random, make)
      const label = random.isTrue(0.95) ? operation.label : random.pick(operations).label
      return {
        name: `${request.method} ${request.path.slice(0, 200)}`,
        run: () => check(clientFor(label), operation, request),
      }
    })
    slow.push(...(await server.standstills(inputs, BOUND_MS)))
  }
  expect(problems).toEqual([])
  expect(slow).toEqual([])
  // Many of the requests must get past authentication and validation.
  expect(accepted).toBeGreaterThan(REQUESTS / 10)
})
