import { type TProperties, type TSchema, Type } from 'typebox'

/** `{type: success, msg, data}`; `data` is left out, not null, when there is nothing to say. */
export const success = <Data>(msg: string, data: Data) => ({ type: 'success' as const, msg, data })
export const done = (msg: string) => ({ type: 'success' as const, msg })

export const Success = <Data extends TSchema>(data: Data) =>
  Type.Object({ type: Type.Literal('success'), msg: Type.String(), data })

export const Done = Type.Object({ type: Type.Literal('success'), msg: Type.String() })

/** Written as a type list, which serializes faster in lists than a union. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => {
  const { type, enum: words } = schema as { type?: string; enum?: unknown[] }
  return {
    ...schema,
    type: [type, 'null'],
    ...(words && { enum: [...words, null] }),
  } as unknown as ReturnType<typeof Type.Union<[Schema, ReturnType<typeof Type.Null>]>>
}

export const Timestamp = Type.String({ format: 'date-time' })

/** One of a few words; a single enum reads better in messages and documents than a union. */
export const OneOf = <const Word extends string>(words: readonly Word[], options: object = {}) =>
  Type.Unsafe<Word>({ type: 'string', enum: words, ...options })

/** A request body: fields it does not name are dropped before a handler sees them. */
export const Body = <Properties extends TProperties>(
  properties: Properties,
  options: object = {},
) => Type.Object(properties, { additionalProperties: false, ...options })
