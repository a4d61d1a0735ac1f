import type { TSchema } from 'typebox'

interface Shape {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  properties?: Record<string, TSchema>
  required?: string[]
  items?: TSchema
  anyOf?: TSchema[]
  minimum?: number
}

interface Options {
  /** A text for a field with this name; `text` unless given. */
  textOf?: (name: string) => string
  /** Leaves out optional fields without an own example, so that the value is short and acceptable. */
  brief?: boolean
}

/** Returns a valid value: the first example in the schema, or else a plain one of its type. */
export function exampleOf(schema: TSchema, options: Options = {}, name = ''): unknown {
  const shape = schema as Shape
  if (shape.examples) return shape.examples[0]
  if (shape.const !== undefined) return shape.const
  if (shape.default !== undefined) return shape.default
  if (shape.enum) return shape.enum[0]
  if (shape.anyOf?.[0]) return exampleOf(shape.anyOf[0], options, name)
  const [type] = [shape.type].flat()
  switch (type) {
    case 'object':
      return exampleObject(shape, options)
    case 'array':
      return shape.items ? [exampleOf(shape.items, options, name)] : []
    case 'integer':
    case 'number':
      return shape.minimum ?? 0
    case 'boolean':
      return true
    case 'string':
      if (shape.format === 'date-time') return '2026-11-15T09:30:00.000Z'
      return options.textOf?.(name) ?? 'text'
    default:
      return null
  }
}

function exampleObject({ properties = {}, required = [] }: Shape, options: Options): object {
  const all = Object.entries(properties)
  const chosen = options.brief
    ? all.filter(([name, property]) => required.includes(name) || hasOwnExample(property))
    : all
  return Object.fromEntries(
    (chosen.length > 0 ? chosen : all).map(([name, property]) => [
      name,
      exampleOf(property, options, name),
    ]),
  )
}

const hasOwnExample = (schema: TSchema): boolean =>
  'examples' in schema || 'default' in schema || 'const' in schema
