import type { TSchema } from 'typebox'

interface Shape {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  properties?: Record<string, TSchema>
  items?: TSchema
  anyOf?: TSchema[]
  minimum?: number
}

/** A value of this shape: the author's own example where there is one, otherwise a plain one. */
export function exampleOf(schema: TSchema): unknown {
  const shape = schema as Shape
  if (shape.examples) return shape.examples[0]
  if (shape.const !== undefined) return shape.const
  if (shape.default !== undefined) return shape.default
  if (shape.enum) return shape.enum[0]
  if (shape.anyOf?.[0]) return exampleOf(shape.anyOf[0])
  const [type] = [shape.type].flat()
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(shape.properties ?? {}).map(([name, property]) => [
          name,
          exampleOf(property),
        ]),
      )
    case 'array':
      return shape.items ? [exampleOf(shape.items)] : []
    case 'integer':
    case 'number':
      return shape.minimum ?? 0
    case 'boolean':
      return true
    case 'string':
      return shape.format === 'date-time' ? '2026-11-15T09:30:00.000Z' : 'text'
    default:
      return null
  }
}
