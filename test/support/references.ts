import { readFileSync } from 'node:fs'
import type { TSchema } from 'typebox'
import { exampleOf } from '../../src/lib/schema-example.ts'

type Where = 'path' | 'query' | 'body'

/** A location where a caller names a resource: a path parameter, a query value, a body field. */
export interface Place {
  where: Where
  /** Nested fields have their own name; a body that is a list of names is `[]`. */
  name: string
}

export interface Route {
  route: string
  method: string
  path: string
  label: string
  places: Place[]
  query: { name: string; schema: TSchema }[]
  body: TSchema | undefined
  /** The path of a list route, with the word for all tenants where it needs one. */
  list: string | undefined
}

interface Shape {
  type?: string | string[]
  properties?: Record<string, TSchema>
  required?: string[]
  items?: TSchema
}

interface Operation {
  'x-auth': string
  parameters?: {
    $ref?: string
    name: string
    in: string
    schema: TSchema
    description?: string
  }[]
  requestBody?: { content: { 'application/json': { schema: TSchema } } }
}

/** Every route of the description with the locations where it takes names. */
export function describedRoutes(): Route[] {
  const file = new URL('../../openapi/v1.json', import.meta.url)
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8'))
  return Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, operations]) =>
      Object.entries(operations).map(([method, operation]) =>
        routeOf(method.toUpperCase(), path, written(operation, components)),
      ),
  )
}

/** Replaces every schema reference by the schema. */
function written<Part>(part: Part, components: { schemas: Record<string, unknown> }): Part {
  if (part === null || typeof part !== 'object') return part
  if (Array.isArray(part)) return part.map((entry) => written(entry, components)) as Part
  const name = /^#\/components\/schemas\/(.+)$/.exec(String((part as { $ref?: string }).$ref))?.[1]
  if (name !== undefined) return written(components.schemas[name] as Part, components)
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, written(value, components)]),
  ) as Part
}

function routeOf(method: string, path: string, operation: Operation): Route {
  const parameters = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined)
  const query = parameters.filter((one) => one.in === 'query')
  const wanted = parameters.filter((one) => one.in === 'path')
  const body = operation.requestBody?.content['application/json'].schema
  const places: Place[] = [
    ...wanted.map(({ name }) => ({ where: 'path' as const, name })),
    ...query
      .filter(({ schema }) => mayName(schema))
      .map(({ name }) => ({ where: 'query' as const, name })),
    ...(body ? namesIn(body, '[]').map((name) => ({ where: 'body' as const, name })) : []),
  ]
  return {
    route: `${method} ${path}`,
    method,
    path,
    label: operation['x-auth'],
    places,
    query,
    body,
    list:
      method === 'GET' && wanted.every(({ description }) => description?.includes('`all`'))
        ? path.replace(/\{\w+\}/, 'all')
        : undefined,
  }
}

const typesOf = (schema: TSchema) => [(schema as Shape).type].flat()

/** Numbers, booleans and enums name nothing; a schema without a type accepts anything. */
const mayName = (schema: TSchema): boolean =>
  !('enum' in schema) && typesOf(schema).some((type) => type === undefined || type === 'string')

function namesIn(schema: TSchema, name: string): string[] {
  const { properties, items } = schema as Shape
  if (properties) return Object.entries(properties).flatMap(([key, value]) => namesIn(value, key))
  if (items) return namesIn(items, name)
  return mayName(schema) ? [name] : []
}

/**
 * A body with all required fields, or one harmless field when none is required. `given` returns the
 * value of a location for names; the location under test is always filled.
 */
export function bodyOf(
  schema: TSchema,
  given: (name: string) => unknown,
  tested: string | undefined,
  name = '[]',
): unknown {
  const { properties, required = [], items } = schema as Shape
  if (properties) {
    const isNamed = ([key, value]: [string, TSchema]) =>
      namesIn(value, key).some((one) => one === tested)
    const chosen = Object.entries(properties).filter(
      (entry) => required.includes(entry[0]) || isNamed(entry),
    )
    const harmless = Object.entries(properties).find(([key]) => given(key) === undefined)
    const fields = chosen.length > 0 || !harmless ? chosen : [harmless]
    return Object.fromEntries(
      fields.map(([key, value]) => [key, bodyOf(value, given, tested, key)]),
    )
  }
  if (items) return [bodyOf(items, given, tested, name)]
  return given(name) ?? exampleOf(schema)
}
