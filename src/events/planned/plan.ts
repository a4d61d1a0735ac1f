import { type TSchema, Type } from 'typebox'
import { planEvent } from '../catalogue.ts'
import { vocabulary } from '../vocabulary.ts'

/** Names, what happened, and the fields of `data` in words of the vocabulary. */
type Line = readonly [name: string, summary: string, fields: string]

/** Events that a feature still to come, or another service through the channel, will emit. */
export const awaited = (source: string, lines: readonly Line[]): void => plan(source, lines, false)

/** Names that are taken although nothing is expected to emit them. */
export const reserved = (source: string, lines: readonly Line[]): void => plan(source, lines, true)

function plan(source: string, lines: readonly Line[], isReserved: boolean): void {
  for (const [name, summary, fields] of lines) {
    planEvent({ name, source, summary, data: shapeOf(name, fields), reserved: isReserved })
  }
}

/** `queue_id domain? direction=import`: always, perhaps or null, and with an example of its own. */
function shapeOf(event: string, fields: string) {
  const properties: Record<string, TSchema> = {}
  for (const field of fields.split(' ')) {
    const [, name = '', optional, example] = /^(\w+)(\?)?(?:=(.+))?$/.exec(field) ?? []
    const known = vocabulary[name]
    if (!known) throw new Error(`event ${event}: the vocabulary lacks the field ${field}`)
    const schema = example === undefined ? known : { ...known, examples: [example] }
    properties[name] = optional ? Type.Optional(Type.Union([schema, Type.Null()])) : schema
  }
  return Type.Object(properties)
}
