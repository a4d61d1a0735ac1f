import { type TProperties, type TSchema, Type } from 'typebox'

/** The success envelope; `done` has no `data`. */
export const success = <Data>(msg: string, data: Data) => ({ type: 'success' as const, msg, data })
export const done = (msg: string) => ({ type: 'success' as const, msg })

export const Success = <Data extends TSchema>(data: Data) =>
  Type.Object({ type: Type.Literal('success'), msg: Type.String(), data })

export const Done = Type.Object({ type: Type.Literal('success'), msg: Type.String() })

/** A type list instead of a union, because it serializes faster in lists. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => {
  const { type, enum: words } = schema as { type?: string; enum?: unknown[] }
  return {
    ...schema,
    type: [type, 'null'],
    ...(words && { enum: [...words, null] }),
  } as unknown as ReturnType<typeof Type.Union<[Schema, ReturnType<typeof Type.Null>]>>
}

export const Timestamp = Type.String({ format: 'date-time' })

/** A string enum; clearer in messages and in the description than a union of literals. */
export const OneOf = <const Word extends string>(words: readonly Word[], options: object = {}) =>
  Type.Unsafe<Word>({ type: 'string', enum: words, ...options })

/** A request body. Fields that it does not declare are removed before the handler runs. */
export const Body = <Properties extends TProperties>(
  properties: Properties,
  options: object = {},
) => Type.Object(properties, { additionalProperties: false, ...options })
