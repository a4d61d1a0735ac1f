import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentedFeatures } from '../src/daemons/documented-features.ts'
import { breakingChanges } from '../src/openapi/breaking.ts'
import { openApiDocument } from '../src/openapi/document.ts'
import { describeRoutes } from '../src/openapi/generate.ts'
import { routeList } from '../src/openapi/route-list.ts'
import { type App, startApp } from './support/app.ts'

type Json = Record<string, unknown>
interface Media {
  schema: Json
  example?: unknown
  examples?: Record<string, { $ref: string }>
}
interface Answer {
  $ref?: string
  description: string
  headers: Json
  content?: Record<string, Media>
}
interface Operation {
  operationId: string
  summary: string
  description: string
  'x-auth': string
  security: Record<string, unknown[]>[]
  parameters?: { $ref?: string; name: string; in: string; required: boolean; schema: Json }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Answer>
}
interface Description {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, Json>>
}

const committed = (file: string) =>
  readFileSync(join(import.meta.dirname, '..', 'openapi', file), 'utf8')
const description = JSON.parse(committed('v1.json')) as Description
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method.toUpperCase()} ${path}`, path, operation] as const,
  ),
)
const at = (ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((value, step) => (value as Json | undefined)?.[step], description)

const resolved = (answer: Answer): Answer => (answer.$ref ? (at(answer.$ref) as Answer) : answer)

const BASE = 'https://description.test/v1.json'
const ajv = new Ajv2020({ strict: false, allErrors: true })
;(formats as unknown as (one: Ajv2020) => void)(ajv)
ajv.addSchema(description, BASE)

describe('the committed description', () => {
  it('equals the description generated from the routes', async () => {
    const routes = await describeRoutes(await documentedFeatures())
    const generated = openApiDocument(routes)
    expect(breakingChanges(description, generated)).toEqual([])
    const text = `${JSON.stringify(generated, null, 2)}\n`
    expect(text === committed('v1.json'), 'run npm run openapi').toBe(true)
    expect(committed('routes.txt')).toBe(routeList(routes))
  })

  it('lists each route once, with its label', () => {
    const lines = committed('routes.txt').trimEnd().split('\n')
    const expected = operations.map(([name, path, operation]) => {
      const [method = ''] = name.split(' ')
      return `${method.padEnd(6)} ${path}  ${operation['x-auth']}`
    })
    expect([...lines].sort()).toEqual(expected.sort())
  })

  it('is valid OpenAPI 3.1 without dangling references', () => {
    expect(description.openapi).toMatch(/^3\.1\./)
    expect(description.info).toMatchObject({
      title: expect.any(String),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
    const refs = [...committed('v1.json').matchAll(/"\$ref": "([^"]+)"/g)].map(([, ref]) => ref)
    expect(refs.length).toBeGreaterThan(100)
    const lost = [...new Set(refs)].filter((ref) => at(ref as string) === undefined)
    expect(lost).toEqual([])
    for (const name of Object.keys(description.components.schemas ?? {})) {
      expect(() => validatorAt('components', 'schemas', name), name).not.toThrow()
    }
  })

  it('has a unique id for every operation', () => {
    const ids = operations.map(([, , { operationId }]) => operationId)
    for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9_]*$/)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })
})

describe.each(operations)('the description of %s', (name, path, operation) => {
  const answers = Object.entries(operation.responses).map(
    ([status, answer]) => [status, resolved(answer)] as const,
  )

  it('has a summary, a description, a label and the matching security schemes', () => {
    expect(operation.summary).toMatch(/^[A-Z].{5,}[^.]$/)
    expect(operation.description).toMatch(/^[A-Z].{10,}\.$/)
    expect(operation.description).not.toContain(operation.summary)
    expect(operation['x-auth']).toMatch(/./)
    expect(operation.security.length > 0).toBe(operation['x-auth'] !== 'None')
    for (const scheme of operation.security.flatMap((one) => Object.keys(one))) {
      expect(description.components.securitySchemes).toHaveProperty(scheme)
    }
  })

  it('declares exactly the parameters of its path', () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter).sort()
    const declared = (operation.parameters ?? []).filter((one) => one.in === 'path')
    expect(declared.map((one) => one.name).sort()).toEqual(inPath)
    expect(declared.every(({ required }) => required)).toBe(true)
  })

  it('accepts an Idempotency-Key exactly when it is not a read', () => {
    const refs = (operation.parameters ?? []).map(({ $ref }) => $ref)
    expect(refs.includes('#/components/parameters/IdempotencyKey')).toBe(!name.startsWith('GET'))
  })

  it('describes its successful response', () => {
    const successes = answers.filter(([status]) => /^[23]/.test(status))
    expect(successes.length).toBeGreaterThan(0)
    for (const [status, { content }] of successes) {
      if (status === '204' || status === '302') expect(content).toBeUndefined()
      else expect(Object.values(content ?? {})[0]).toMatchObject({ schema: {}, example: {} })
    }
  })

  it('has an example for every error response, including 500', () => {
    const failures = answers.filter(([status]) => Number(status) >= 400)
    expect(failures.map(([status]) => status)).toContain('500')
    if (operation['x-auth'] !== 'None' && operation['x-auth'] !== 'X-Bootstrap-Token') {
      expect(failures.map(([status]) => status)).toContain('401')
    }
    for (const [, { content }] of failures) {
      const { examples, example } = content?.['application/json'] ?? {}
      expect(example !== undefined || Object.keys(examples ?? {}).length > 0).toBe(true)
    }
  })

  it('has valid examples', () => {
    const method = (name.split(' ')[0] ?? '').toLowerCase()
    const places: [string[], Media][] = [
      {
        place: ['paths', path, method, 'requestBody'],
        content: operation.requestBody?.content,
      },
      ...Object.entries(operation.responses).map(([status, answer]) => ({
        place: answer.$ref?.split('/').slice(1) ?? ['paths', path, method, 'responses', status],
        content: resolved(answer).content,
      })),
    ].flatMap(({ place, content }) =>
      Object.entries(content ?? {}).map(([type, media]): [string[], Media] => [
        [...place, 'content', type, 'schema'],
        media,
      ]),
    )
    for (const [place, { example, examples = {} }] of places) {
      const validate = validatorAt(...place)
      const named = Object.values(examples).map(
        ({ $ref }) => (at($ref) as { value: unknown }).value,
      )
      for (const value of example === undefined ? named : [example, ...named]) {
        validate?.(value)
        expect(validate?.errors ?? [], JSON.stringify(value)).toEqual([])
      }
      expect(validate, place.join('/')).toBeDefined()
    }
  })

  it('declares a correlation id header for every response', () => {
    for (const [, { headers }] of answers) expect(headers).toHaveProperty('X-Correlation-Id')
  })
})

describe('the served description', () => {
  let app: App
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(() => app.stop())

  it('is equal to the committed description', async () => {
    const answer = await app.send('GET', '/openapi.json')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    expect(answer.body).toEqual(description)
  })

  it('omits the routes that the community edition does not have', async () => {
    const community = await startApp({ env: { SVC_EDITION: 'community' } })
    try {
      const { body } = await community.send('GET', '/openapi.json')
      expect(body.paths['/metrics']).toBeUndefined()
      expect(body.paths['/health']).toBeDefined()
    } finally {
      await community.stop()
    }
  })

  it('is rendered at /docs without resources of another host', async () => {
    const page = await app.send('GET', '/docs')
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.text).not.toMatch(/(https?:)?\/\/[a-z0-9]/i)
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part)
    expect(parts.length).toBeGreaterThan(2)
    for (const path of ['/docs', ...(parts as string[])]) {
      const { status, headers } = await app.send('GET', path)
      expect(status, path).toBe(200)
      const policy = headers['content-security-policy'] as string
      expect(policy).toContain("default-src 'self'")
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })
})

/**
 * Compiles the schema at a path of the description. All share one Ajv; one each would take minutes.
 */
function validatorAt(...steps: string[]) {
  const pointer = steps
    .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/')
  return ajv.getSchema(`${BASE}#/${pointer}`)
}
