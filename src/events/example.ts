import type { TObject, TSchema } from 'typebox'
import { exampleOf } from '../openapi/example.ts'
import { vocabulary } from './vocabulary.ts'

/** What `data` of an event may look like: its author's examples, or those of the vocabulary. */
export const exampleData = (data: TObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data.properties).map(([name, schema]) => [name, exampleOfField(name, schema)]),
  )

function exampleOfField(name: string, schema: TSchema): unknown {
  const known = vocabulary[name]
  if (!known || saysMore(schema)) return exampleOf(schema)
  return typeOf(known) === typeOf(schema) ? exampleOf(known) : exampleOf(schema)
}

/** The schema has words of its own for what the field may hold. */
const saysMore = (schema: TSchema): boolean =>
  'examples' in schema || 'const' in schema || 'enum' in schema

function typeOf(schema: TSchema): unknown {
  const { type, anyOf } = schema as { type?: string | string[]; anyOf?: { type?: string }[] }
  return anyOf ? anyOf[0]?.type : [type].flat()[0]
}
