import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import { describeAuth } from '../access/labels.ts'
import { exampleOf } from '../lib/schema-example.ts'
import { VERSION } from '../version.ts'
import type { DescribedRoute } from './collect.ts'
import { type ErrorResponse, errorResponses, errorSchemas, SEE_MESSAGE } from './error-responses.ts'
import { descriptionOf } from './operation-text.ts'
import { sampleText } from './sample-texts.ts'
import { securityOf, securitySchemes } from './security.ts'
import { tagOf, tagsOf } from './tags.ts'

type Json = Record<string, unknown>

/** Parts that operations share by `$ref`. */
interface Components {
  schemas: Map<string, Json>
  examples: Map<string, Json>
  responses: Map<string, Json>
}

/** The OpenAPI 3.1 description of these routes, in a stable order. */
export function openApiDocument(routes: readonly DescribedRoute[]): Json {
  const components: Components = {
    schemas: new Map<string, Json>(Object.entries(errorSchemas)),
    examples: new Map(),
    responses: new Map(),
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
        'Every response carries `X-Correlation-Id`; every error body repeats it as `correlation_id`. Every mutating request accepts `Idempotency-Key`. Unknown query parameters and unknown fields of a body are ignored; the headers `X-Ignored-Parameters` and `X-Ignored-Fields` of the answer name them. A browser with several sessions names the one to use in `X-Session`: `dashboard`, `operator` or `mailbox`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(routes),
    paths,
    components: {
      securitySchemes,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: {
        CorrelationId: {
          schema: { type: 'string' },
          description: 'Name of this request in the logs',
        },
        TotalCount: {
          schema: { type: 'integer' },
          description: 'Number of all rows that match; left out when they were not all counted',
        },
      },
      schemas: sortedEntries(components.schemas),
      examples: sortedEntries(components.examples),
      responses: sortedEntries(components.responses),
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
    description: descriptionOf(route),
    'x-auth': describeAuth(route.auth),
    security: securityOf(route.auth),
    ...(route.deprecated && { deprecated: true, 'x-sunset': route.deprecated.sunset }),
    ...(parameters.length > 0 && { parameters }),
    ...(schema.body !== undefined && { requestBody: bodyOf(schema.body as TSchema, components) }),
    responses: { ...successes(route, components), ...failures(route, components) },
  }
}

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
    'application/json': {
      schema: reference(schema, components),
      example: exampleOf(schema, { textOf: sampleText, brief: true }),
    },
  },
})

function successes({ schema, totalCount, url }: DescribedRoute, components: Components): Json {
  const responses: Json = {}
  for (const [status, body] of Object.entries(schema.response ?? {})) {
    responses[status] = {
      description: DESCRIPTIONS[status.charAt(0)] ?? 'Failure',
      headers: totalCount ? { ...CORRELATION_HEADER, ...TOTAL_HEADER } : CORRELATION_HEADER,
      ...((body as { type?: string }).type !== 'null' && {
        content: {
          'application/json': {
            schema: reference(body, components),
            example: exampleOf(body, { textOf: sampleText }),
          },
        },
      }),
    }
  }
  if (Object.keys(responses).length === 0) {
    const type = schema.produces?.[0] ?? 'application/json'
    responses['200'] = {
      description: `See ${url}`,
      headers: CORRELATION_HEADER,
      content: { [type]: { schema: { type: 'string' }, example: 'text' } },
    }
  }
  return responses
}

const DESCRIPTIONS: Record<string, string> = { 2: 'Success', 3: 'Elsewhere, as Location says' }

const TOTAL_HEADER = { 'X-Total-Count': { $ref: '#/components/headers/TotalCount' } }
const CORRELATION_HEADER = { 'X-Correlation-Id': { $ref: '#/components/headers/CorrelationId' } }

function failures(route: DescribedRoute, components: Components): Json {
  const byStatus = new Map<number, ErrorResponse[]>()
  for (const response of errorResponses(route)) {
    byStatus.set(response.status, [...(byStatus.get(response.status) ?? []), response])
  }
  const isInternal = route.auth.kind === 'internal'
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      String(status),
      failure(status, errors, isInternal, components),
    ]),
  )
}

/** Routes with the same errors share one response; its name lists the messages. */
function failure(
  status: number,
  errors: ErrorResponse[],
  isInternal: boolean,
  { examples, responses }: Components,
): Json {
  const prefix = isInternal ? `internal-${status}` : String(status)
  const messages = [...new Set(errors.map(nameOf))]
  const name = [prefix, ...messages.map(slug)].join('-')
  const response = {
    description: messages.join('; '),
    headers: CORRELATION_HEADER,
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${errors[0]?.schema}` },
        examples: Object.fromEntries(
          errors.map((error) => {
            const exampleName = `${prefix}-${slug(nameOf(error))}`
            examples.set(exampleName, { summary: nameOf(error), value: error.example })
            return [exampleName, { $ref: `#/components/examples/${exampleName}` }]
          }),
        ),
      },
    },
  }
  const shared = responses.get(name)
  if (shared && !isDeepStrictEqual(shared, response)) {
    throw new Error(`two different error responses have the name ${name}`)
  }
  responses.set(name, response)
  return { $ref: `#/components/responses/${name}` }
}

/** Errors whose message depends on the request are distinguished by their code. */
const nameOf = ({ message, code }: ErrorResponse) =>
  message === SEE_MESSAGE && code !== undefined ? code : message

const slug = (message: string) => message.toLowerCase().replace(/[^a-z0-9]+/g, '-')

/** A schema with a title becomes a component and is used by `$ref`. */
function reference(schema: TSchema, components: Components): Json {
  const plain = walk(schema, components) as Json
  const title = plain.title
  if (typeof title !== 'string') return plain
  if (!components.schemas.has(title)) components.schemas.set(title, plain)
  return { $ref: `#/components/schemas/${title}` }
}

/** A keyword of this program, which other readers of the description do not know. */
const WORDS_OF_REFUSAL = 'wants'

function walk(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((entry) => walk(entry, components))
  if (value === null || typeof value !== 'object') return value
  const copy: Json = {}
  for (const [name, inner] of Object.entries(value)) {
    if (name === WORDS_OF_REFUSAL) continue
    const isSchema =
      inner !== null && typeof inner === 'object' && 'title' in inner && 'type' in inner
    copy[name] = isSchema ? reference(inner as TSchema, components) : walk(inner, components)
  }
  return copy
}
