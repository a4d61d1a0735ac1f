import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'

type Json = Record<string, unknown>
interface Operation {
  operationId: string
  tags: string[]
  description: string
  requestBody?: { content: Record<string, { example?: unknown }> }
  parameters?: { in: string; schema: Json }[]
  responses: Record<string, unknown>
}

const file = join(import.meta.dirname, '..', 'openapi', 'v1.json')
const description = JSON.parse(readFileSync(file, 'utf8')) as {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
}
const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods))

const BASE = 'https://description.test/v1.json'
const ajv = new Ajv2020({ strict: false })
;(formats as unknown as (one: Ajv2020) => void)(ajv)
ajv.addSchema(description, BASE)

const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object'

/** The schemas of the description that are no part of another one, by their path in it. */
function schemasIn(value: unknown, path: string[] = []): string[][] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = [...path, name]
    const isSchema = name === 'schema' || (path[0] === 'components' && path[1] === 'schemas')
    return isSchema ? [here] : schemasIn(inner, here)
  })
}

/** A schema and all schemas in it, with their paths. */
function partsOf(schema: unknown, path: string[]): [string[], Json][] {
  if (!isObject(schema)) return []
  const named = ['properties', 'anyOf', 'oneOf', 'allOf'].flatMap((keyword) =>
    Object.entries((schema[keyword] as Json | undefined) ?? {}).flatMap(([name, inner]) =>
      partsOf(inner, [...path, keyword, name]),
    ),
  )
  const single = ['items', 'additionalProperties'].flatMap((keyword) =>
    partsOf(schema[keyword], [...path, keyword]),
  )
  return [[path, schema], ...named, ...single]
}

const at = (path: readonly string[]): unknown =>
  path.reduce<unknown>((value, step) => (value as Json)[step], description)

const validatorAt = (path: readonly string[]) => {
  const steps = path.map((step) =>
    encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
  )
  return ajv.getSchema(`${BASE}#/${steps.join('/')}`)
}

// Finding N17: generators and linters refuse a description that breaks these rules.
describe('the description', () => {
  const parts = schemasIn(description).flatMap((path) => partsOf(at(path), path))

  it('uses keywords and formats of JSON Schema only', () => {
    expect(parts.length).toBeGreaterThan(2000)
    const unknown = parts.flatMap(([path, schema]) => [
      ...Object.keys(schema)
        .filter((keyword) => !(keyword in ajv.RULES.keywords))
        .map((keyword) => `${path.join('/')}: ${keyword}`),
      ...(typeof schema.format === 'string' && !(schema.format in ajv.formats)
        ? [`${path.join('/')}: ${schema.format}`]
        : []),
    ])
    expect(unknown).toEqual([])
  })

  it('says what the entries of every list are', () => {
    const lists = parts.filter(([, { type }]) => [type].flat().includes('array'))
    expect(lists.filter(([, list]) => !isObject(list.items)).map(([path]) => path)).toEqual([])
  })

  it('has examples and defaults that are valid', () => {
    const problems = parts.flatMap(([path, schema]) => {
      const values = [
        ...((schema.examples as unknown[] | undefined) ?? []),
        ...('default' in schema ? [schema.default] : []),
      ]
      if (values.length === 0) return []
      const validate = validatorAt(path)
      return values
        .filter((value) => !validate?.(value))
        .map((value) => `${path.join('/')}: ${JSON.stringify(value)}`)
    })
    expect(problems).toEqual([])
  })

  it('has no filler in the examples of requests', () => {
    const examples = operations.flatMap(({ operationId, requestBody }) =>
      Object.values(requestBody?.content ?? {}).map(({ example }) => [operationId, example]),
    )
    const filler = examples.filter(([, example]) =>
      /"(text|example)"/.test(JSON.stringify(example)),
    )
    expect(filler).toEqual([])
  })

  it('has the status of a path whose number or word is malformed (N16)', () => {
    const isChecked = ({ schema }: { schema: Json }) =>
      schema.type !== 'string' || 'enum' in schema || 'pattern' in schema
    const checked = operations.filter(({ parameters = [] }) =>
      parameters.some((one) => one.in === 'path' && isChecked(one)),
    )
    const ids = checked.map(({ operationId }) => operationId)
    expect(ids).toEqual(expect.arrayContaining(['get_audit_entry', 'get_dlp_violation']))
    expect(checked.filter(({ responses }) => !('422' in responses))).toEqual([])
  })

  it('describes each group, and has the internal ones last (N18)', () => {
    const names = description.tags.map(({ name }) => name)
    const used = new Set(operations.flatMap(({ tags }) => tags))
    expect([...names].sort()).toEqual([...used].sort())
    expect(names.slice(-2)).toEqual(['meta', 'internal'])
    for (const tag of description.tags) expect(tag.description).toMatch(/^[A-Z].{10,}\.$/)
  })
})
