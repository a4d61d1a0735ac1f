import type { TSchema } from 'typebox'
import { describeAuth } from '../access/labels.ts'
import { VERSION } from '../version.ts'
import type { DescribedRoute } from './collect.ts'
import { type ErrorAnswer, errorAnswers, errorSchemas } from './error-answers.ts'
import { exampleOf } from './example.ts'
import { securityOf, securitySchemes } from './security.ts'

type Json = Record<string, unknown>

/** What is said once and mentioned by reference. */
interface Components {
  schemas: Map<string, Json>
  examples: Map<string, Json>
}

/** The OpenAPI 3.1 description of these routes, in a stable order. */
export function openApiDocument(routes: readonly DescribedRoute[]): Json {
  const components: Components = {
    schemas: new Map<string, Json>(Object.entries(errorSchemas)),
    examples: new Map(),
  }
  const paths: Record<string, Json> = {}
  const sorted = [...routes].sort(
    (one, other) => compare(one.url, other.url) || compare(one.method, other.method),
  )
  for (const route of sorted) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: operation(route, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailplane control-plane API',
      version: VERSION,
      description:
        'Every response carries `X-Correlation-Id`; every error body repeats it as `correlation_id`. Every mutating request accepts `Idempotency-Key`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: {
        CorrelationId: {
          schema: { type: 'string' },
          description: 'Name of this request in the logs',
        },
      },
      schemas: sortedEntries(components.schemas),
      examples: sortedEntries(components.examples),
    },
  }
}

const sortedEntries = (entries: Map<string, Json>): Json =>
  Object.fromEntries([...entries].sort(([one], [other]) => compare(one, other)))

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

function operation(route: DescribedRoute, components: Components): Json {
  const { schema } = route
  const mutating = route.method !== 'get'
  const parameters = [
    ...parametersOf(schema.params, 'path', components),
    ...parametersOf(schema.querystring, 'query', components),
    ...(mutating ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ]
  return {
    operationId: schema.operationId,
    tags: [tagOf(route)],
    summary: schema.summary,
    ...(schema.description !== undefined && { description: schema.description }),
    'x-auth': describeAuth(route.auth),
    security: securityOf(route.auth),
    ...(route.deprecated && { deprecated: true, 'x-sunset': route.deprecated.sunset }),
    ...(parameters.length > 0 && { parameters }),
    ...(schema.body !== undefined && { requestBody: bodyOf(schema.body as TSchema, components) }),
    responses: { ...successes(route, components), ...failures(route, components) },
  }
}

const tagOf = ({ url, auth }: DescribedRoute) =>
  auth.kind === 'internal' ? 'internal' : (url.split('/')[3] ?? 'meta')

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Retrying with the same key and body within 24 hours replays the original response',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function parametersOf(schema: unknown, place: string, components: Components): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as TSchema & { description?: string }
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: reference(rest as TSchema, components),
    }
  })
}

const bodyOf = (schema: TSchema, components: Components): Json => ({
  required:
    !('~optional' in schema) && ((schema as { required?: string[] }).required ?? []).length > 0,
  content: {
    'application/json': { schema: reference(schema, components), example: exampleOf(schema) },
  },
})

function successes({ schema, url }: DescribedRoute, components: Components): Json {
  const answers: Json = {}
  for (const [status, body] of Object.entries(schema.response ?? {})) {
    answers[status] = {
      description: DESCRIPTIONS[status.charAt(0)] ?? 'Failure',
      headers: CORRELATION_HEADER,
      ...((body as { type?: string }).type !== 'null' && {
        content: {
          'application/json': { schema: reference(body, components), example: exampleOf(body) },
        },
      }),
    }
  }
  if (Object.keys(answers).length === 0) {
    const type = schema.produces?.[0] ?? 'application/json'
    answers['200'] = {
      description: `See ${url}`,
      headers: CORRELATION_HEADER,
      content: { [type]: { schema: { type: 'string' }, example: 'text' } },
    }
  }
  return answers
}

const DESCRIPTIONS: Record<string, string> = { 2: 'Success', 3: 'Elsewhere, as Location says' }

const CORRELATION_HEADER = { 'X-Correlation-Id': { $ref: '#/components/headers/CorrelationId' } }

function failures(route: DescribedRoute, { examples }: Components): Json {
  const byStatus = new Map<number, ErrorAnswer[]>()
  for (const answer of errorAnswers(route)) {
    byStatus.set(answer.status, [...(byStatus.get(answer.status) ?? []), answer])
  }
  const mention = ({ status, message, example }: ErrorAnswer) => {
    const kind = route.auth.kind === 'internal' ? 'internal-' : ''
    const name = `${kind}${status}-${message.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
    examples.set(name, { summary: message, value: example })
    return [name, { $ref: `#/components/examples/${name}` }]
  }
  return Object.fromEntries(
    [...byStatus].map(([status, answers]) => [
      String(status),
      {
        description: [...new Set(answers.map(({ message }) => message))].join('; '),
        headers: CORRELATION_HEADER,
        content: {
          'application/json': {
            schema: { $ref: `#/components/schemas/${answers[0]?.schema}` },
            examples: Object.fromEntries(answers.map(mention)),
          },
        },
      },
    ]),
  )
}

/** A schema with a title becomes a component, mentioned by reference wherever it is used. */
function reference(schema: TSchema, components: Components): Json {
  const plain = walk(schema, components) as Json
  const title = plain.title
  if (typeof title !== 'string') return plain
  if (!components.schemas.has(title)) components.schemas.set(title, plain)
  return { $ref: `#/components/schemas/${title}` }
}

function walk(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((entry) => walk(entry, components))
  if (value === null || typeof value !== 'object') return value
  const copy: Json = {}
  for (const [name, inner] of Object.entries(value)) {
    const isSchema =
      inner !== null && typeof inner === 'object' && 'title' in inner && 'type' in inner
    copy[name] = isSchema ? reference(inner as TSchema, components) : walk(inner, components)
  }
  return copy
}
