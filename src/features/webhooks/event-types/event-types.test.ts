import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

interface Item {
  name: string
  example: object
  data_schema: object
}

describe('the catalogue of events', () => {
  it('lists each event once, with an example that is valid for its schema', async () => {
    const reader = await app.key((await app.tenant('acme')).organizationId, {
      permissions: { read_only: true },
    })
    const { status, body } = await reader.get('/api/v1/webhooks/event-types')
    expect(status).toBe(200)
    expect(body.msg).toBe('Event types retrieved')
    const items: Item[] = body.data.items
    expect(body.data.total).toBe(items.length)
    const names = items.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)].sort((one, other) => one.localeCompare(other)))
    expect(names).toEqual(expect.arrayContaining(['domain.added', 'org.created', 'webhook.test']))
    const ajv = new Ajv({ strict: false })
    ;(formats as unknown as (one: Ajv) => void)(ajv)
    for (const { name, example, data_schema } of items) {
      expect(ajv.validate(data_schema, example), `${name}: ${ajv.errorsText()}`).toBe(true)
    }
  })

  it('names no producer for events that only another service can report (B5.4)', async () => {
    const acme = await app.tenant('initech')
    const { items } = (await acme.get('/api/v1/webhooks/event-types')).body.data
    const has = Object.fromEntries(
      items.map(({ name, has_producer }: Item & { has_producer: boolean }) => [name, has_producer]),
    )
    for (const name of ['email.read', 'email.deleted', 'email.moved', 'pop3.session.start']) {
      expect(has[name], name).toBe(false)
    }
    for (const name of ['email.delivered', 'health.check.failed']) {
      expect(has[name], name).toBe(true)
    }
  })

  it('describes the data of an event', async () => {
    const acme = await app.tenant('globex')
    const { items } = (await acme.get('/api/v1/webhooks/event-types')).body.data
    expect(items.find(({ name }: Item) => name === 'webhook.test')).toEqual({
      name: 'webhook.test',
      source: 'api',
      summary: expect.any(String),
      has_producer: true,
      reserved: false,
      example: {
        endpoint_id: '01K9ZQ5T3M8B7C6D5E4F3G2H1J',
        url: 'https://hooks.acme.example/mail',
        action: 'created',
        test: true,
        timestamp: expect.any(String),
        payload: {},
      },
      data_schema: expect.objectContaining({
        type: 'object',
        properties: expect.objectContaining({ url: expect.objectContaining({ type: 'string' }) }),
      }),
    })
  })
})
