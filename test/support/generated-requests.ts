import { readFileSync } from 'node:fs'
import type { SeededRandom } from './seeded-random.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  format?: string
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

interface Parameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}

export interface Operation {
  method: string
  path: string
  label: string
  parameters: Parameter[]
  body: Schema | undefined
  /** Documented statuses. */
  statuses: Set<string>
}

interface Described {
  'x-auth': string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, unknown>
}

const description = JSON.parse(
  readFileSync(new URL('../../openapi/v1.json', import.meta.url), 'utf8'),
) as {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

/** Every operation of the committed API description. */
export const operations: readonly Operation[] = Object.entries(description.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      method: method.toUpperCase(),
      path,
      label: described['x-auth'],
      parameters: (described.parameters ?? []).filter((one) => one.$ref === undefined),
      body: described.requestBody?.content['application/json']?.schema,
      statuses: new Set(Object.keys(described.responses)),
    })),
)

const resolved = (schema: Schema): Schema =>
  schema.$ref ? (description.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema

const TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  '../../etc/passwd',
  "'; drop table domains; --",
  '%00',
  '%',
  '\u202e\ufeff',
  '\ud83d\ude00'.repeat(50),
  'ü'.repeat(300),
  'a@b'.repeat(90),
  '<script>alert(1)</script>',
  '{{7*7}}',
  'a'.repeat(5000),
  'x\r\nSet-Cookie: a=b',
  '*'.repeat(300),
  '(a+)+$',
  '::ffff:127.0.0.1',
  'http://127.0.0.1:1/',
  '9999-99-99',
  '1e400',
]
const VALUES: unknown[] = [
  ...TEXTS,
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [[]],
  { a: { b: {} } },
]

/** Makes values that match a schema, and values that do not. */
export function valueMaker(random: SeededRandom, known: Record<string, readonly string[]>) {
  const hostile = (): unknown => random.pick(VALUES)

  function text({ maxLength = 100, minLength = 0, pattern, format }: Schema, name: string): string {
    const values = known[name]
    if (values && random.isTrue(0.7)) return random.pick(values)
    if (format === 'date-time') return '2026-11-15T09:30:00.000Z'
    if (format === 'date') return '2026-11-15'
    if (pattern?.includes('@') || /email|address|recipient|sender/.test(name)) {
      return `user${random.below(1000)}@example${random.below(50)}.com`
    }
    if (/domain/.test(name)) return `example${random.below(1000)}.com`
    if (/url/.test(name)) return `https://example${random.below(50)}.com/hook`
    if (/reason|name|title/.test(name)) return `Text ${random.below(1000)}`
    const length = Math.max(minLength, Math.min(maxLength, random.pick([1, 8, 30, maxLength])))
    return 'ab c-1'.repeat(Math.ceil(length / 6)).slice(0, Math.min(length, 20_000))
  }

  function valid(given: Schema, name = '', depth = 0): unknown {
    const schema = resolved(given)
    if (schema.examples && random.isTrue(0.5)) return random.pick(schema.examples)
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return random.pick(schema.enum)
    if (schema.anyOf) return valid(random.pick(schema.anyOf), name, depth)
    switch (random.pick([schema.type].flat())) {
      case 'object':
        return objectOf(schema, depth)
      case 'array': {
        const least = schema.minItems ?? 0
        const length = Math.max(least, Math.min(schema.maxItems ?? 5, random.below(4)))
        return Array.from({ length }, () => valid(schema.items ?? {}, name, depth + 1))
      }
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = minimum + 1000 } = schema
        return random.pick([minimum, Math.min(maximum, minimum + random.below(50)), maximum])
      }
      case 'boolean':
        return random.isTrue(0.5)
      case 'null':
        return null
      default:
        return text(schema, name)
    }
  }

  function objectOf({ properties = {}, required = [] }: Schema, depth: number): object {
    const names = Object.keys(properties).filter(
      (name) => required.includes(name) || (depth < 4 && random.isTrue(0.5)),
    )
    return Object.fromEntries(
      names.map((name) => [name, valid(properties[name] ?? {}, name, depth + 1)]),
    )
  }

  /** Replaces one value somewhere inside. */
  function spoiled(value: unknown): unknown {
    if (Array.isArray(value) && value.length > 0 && random.isTrue(0.8)) {
      const at = random.below(value.length)
      return value.map((entry, index) => (index === at ? spoiled(entry) : entry))
    }
    if (value !== null && typeof value === 'object' && random.isTrue(0.9)) {
      const names = Object.keys(value)
      if (names.length === 0) return { [random.pick(TEXTS)]: hostile() }
      const name = random.pick(names)
      return { ...value, [name]: spoiled((value as Record<string, unknown>)[name]) }
    }
    return hostile()
  }

  return { valid, spoiled, hostile }
}

/** One request for an operation: valid, or with something wrong in its path, query or body. */
export function requestFor(
  { method, path, parameters, body }: Operation,
  random: SeededRandom,
  make: ReturnType<typeof valueMaker>,
) {
  const isHostile = random.isTrue(0.5)
  const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const schema = parameters.find((one) => one.in === 'path' && one.name === name)?.schema ?? {}
    const value = isHostile && random.isTrue(0.3) ? make.hostile() : make.valid(schema, name)
    return encodeURIComponent(asText(value).toWellFormed()).slice(0, 1500) || 'nothing'
  })
  const query = new URLSearchParams()
  for (const parameter of parameters.filter((one) => one.in === 'query')) {
    if (!parameter.required && random.isTrue(0.6)) continue
    const value =
      isHostile && random.isTrue(0.4)
        ? make.hostile()
        : make.valid(parameter.schema, parameter.name)
    query.append(parameter.name, asText(value).toWellFormed())
  }
  const plain = body && make.valid(body)
  const sent = isHostile && random.isTrue(0.7) ? make.spoiled(plain) : plain
  const suffix = query.size > 0 ? `?${query}` : ''
  return {
    method,
    path: `${target}${suffix}`.slice(0, 8000),
    ...(body && { body: isHostile && random.isTrue(0.05) ? undefined : sent }),
  }
}
