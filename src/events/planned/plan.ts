import { type TSchema, Type } from 'typebox'
import { planEvent } from '../catalogue.ts'
import { vocabulary } from '../vocabulary.ts'

/** The name, the summary, and the fields of `data` by their names in the vocabulary. */
type Line = readonly [name: string, summary: string, fields: string]

/** Events that a future feature, or another service through the channel, will emit. */
export const awaited = (source: string, lines: readonly Line[]): void => plan(source, lines, false)

/** Names that are reserved although nothing is expected to emit them. */
export const reserved = (source: string, lines: readonly Line[]): void => plan(source, lines, true)

function plan(source: string, lines: readonly Line[], isReserved: boolean): void {
  for (const [name, summary, fields] of lines) {
    planEvent({ name, source, summary, data: shapeOf(name, fields), reserved: isReserved })
  }
}

/** Parses `queue_id domain? direction=import`: required, optional or null, with its own example. */
function shapeOf(event: string, fields: string) {
  const properties: Record<string, TSchema> = {}
  for (const text of fields.split(' ')) {
    const [, name = '', optional, example] = /^(\w+)(\?)?(?:=(.+))?$/.exec(text) ?? []
    const field = vocabulary[name]
    if (!field) throw new Error(`event ${event}: the vocabulary lacks the field ${text}`)
    const schema = example === undefined ? field : { ...field, examples: [example] }
    properties[name] = optional ? Type.Optional(Type.Union([schema, Type.Null()])) : schema
  }
  return Type.Object(properties)
}
