import type { FastifyInstance } from 'fastify'
import { isObject } from '../lib/is-object.ts'

export const IGNORED_PARAMETERS = 'x-ignored-parameters'
export const IGNORED_FIELDS = 'x-ignored-fields'

const MAX_NAMES = 20
const MAX_LENGTH = 60

/**
 * Unknown query parameters and unknown fields of a body are ignored, so that older servers accept
 * newer clients. The answer names them in two headers, because most of them are typing errors.
 */
export function nameIgnored(app: FastifyInstance): void {
  const known = new WeakMap<object, ReadonlySet<string>>()
  const knownIn = (schema: object): ReadonlySet<string> => {
    const names = known.get(schema) ?? namesOf(schema)
    known.set(schema, names)
    return names
  }
  app.addHook('preValidation', (request, reply, next) => {
    const { schema } = request.routeOptions
    const unknownIn = (value: unknown, part: unknown) =>
      isObject(value) ? unknown(Object.keys(value), knownIn((part as object) ?? NOTHING)) : ''
    const parameters = unknownIn(request.query, schema?.querystring)
    if (parameters !== '') reply.header(IGNORED_PARAMETERS, parameters)
    const fields = takesFields(schema?.body) ? unknownIn(request.body, schema?.body) : ''
    if (fields !== '') reply.header(IGNORED_FIELDS, fields)
    next()
  })
}

const NOTHING = {}

interface Shape {
  type?: string
  properties?: object
  additionalProperties?: unknown
}

/** Returns whether the schema lists the fields of the body; other bodies may have any field. */
const takesFields = (body: unknown): boolean =>
  isObject(body) &&
  (body as Shape).type === 'object' &&
  (body as Shape).additionalProperties === false

const namesOf = (schema: object): ReadonlySet<string> =>
  new Set(Object.keys((schema as Shape).properties ?? {}))

const unknown = (names: readonly string[], known: ReadonlySet<string>): string =>
  names
    .filter((name) => !known.has(name))
    .slice(0, MAX_NAMES)
    // A header takes a part of ASCII only.
    .map((name) => encodeURIComponent(name.slice(0, MAX_LENGTH).toWellFormed()))
    .join(', ')
