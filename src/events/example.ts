import type { TObject, TSchema } from 'typebox'
import { exampleOf } from '../lib/schema-example.ts'
import { vocabulary } from './vocabulary.ts'

/** An example of the `data` of an event, from its schema or, where that has none, the vocabulary. */
export const exampleData = (data: TObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data.properties).map(([name, schema]) => [name, exampleOfField(name, schema)]),
  )

function exampleOfField(name: string, schema: TSchema): unknown {
  const field = vocabulary[name]
  const usesVocabulary = field && !hasOwnExample(schema) && typeOf(field) === typeOf(schema)
  return exampleOf(usesVocabulary ? field : schema)
}

const hasOwnExample = (schema: TSchema): boolean =>
  'examples' in schema || 'const' in schema || 'enum' in schema

function typeOf(schema: TSchema): unknown {
  const { type, anyOf } = schema as { type?: string | string[]; anyOf?: { type?: string }[] }
  return anyOf ? anyOf[0]?.type : [type].flat()[0]
}
