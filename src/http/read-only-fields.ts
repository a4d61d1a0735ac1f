import type { FastifyInstance } from 'fastify'
import { notWritable } from '../errors.ts'
import { isObject } from '../lib/is-object.ts'

interface Fields {
  /** Fields that the body may have. */
  writable: ReadonlySet<string>
  /** Fields that the answer shows. */
  shown: ReadonlySet<string>
}

/**
 * Rejects a change that consists of fields that cannot be changed there, such as the address of a
 * mailbox: it would be answered as a success and change nothing. Beside fields that can be changed they
 * are ignored, like unknown fields.
 */
export function refuseReadOnlyFields(app: FastifyInstance): void {
  const known = new WeakMap<object, Fields>()
  app.addHook('preValidation', (request, _reply, next) => {
    const { schema } = request.routeOptions
    const { body } = request
    const isChange = request.method === 'PUT' || request.method === 'PATCH'
    if (!isChange || !schema?.body || !isObject(body)) return next()
    let fields = known.get(schema)
    if (!fields) {
      fields = fieldsOf(schema as Described)
      known.set(schema, fields)
    }
    const { shown, writable } = fields
    const names = Object.keys(body)
    const readOnly = names.filter((name) => shown.has(name) && !writable.has(name))
    if (readOnly.length === 0 || names.some((name) => writable.has(name))) return next()
    next(notWritable(readOnly))
  })
}

interface Shape {
  properties?: Record<string, Shape>
}

interface Described {
  body?: Shape
  response?: Record<string, Shape>
}

function fieldsOf({ body, response }: Described): Fields {
  const answer = response?.['200']?.properties ?? {}
  const data = answer.data?.properties ?? {}
  return {
    writable: new Set(Object.keys(body?.properties ?? {})),
    shown: new Set(Object.keys(data)),
  }
}
