interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  format?: string
}
interface Example {
  $ref?: string
  value?: { msg?: string; error_code?: string }
}
interface Content {
  'application/json'?: { schema: Schema; examples?: Record<string, Example> }
}
interface Parameter {
  name: string
  in: string
  required: boolean
  schema: Schema
}
interface Operation {
  'x-auth'?: string
  deprecated?: boolean
  'x-sunset'?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Response>
}
interface Response {
  $ref?: string
  content?: Content
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components?: {
    schemas?: Record<string, Schema>
    examples?: Record<string, Example>
    responses?: Record<string, Response>
  }
}

/**
 * Lists the changes that can break a client of the old description: removed or renamed endpoints,
 * parameters, response fields and error codes, changed types, statuses and auth labels, tightened
 * requests. Additions and wider requests are not listed.
 */
export function breakingChanges(before: unknown, after: unknown, today = new Date()): string[] {
  const old = before as Document
  const now = after as Document
  const changes: string[] = []
  for (const [path, methods] of Object.entries(old.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`
      const current = now.paths[path]?.[method]
      if (current) compareOperations(name, operation, current, { old, now, changes })
      else if (!isPastSunset(operation, today)) changes.push(`${name} was removed`)
    }
  }
  return changes
}

interface Context {
  old: Document
  now: Document
  changes: string[]
}

/** A deprecated endpoint may be removed once its sunset has passed. */
const isPastSunset = (operation: Operation, today: Date) =>
  operation.deprecated === true &&
  operation['x-sunset'] !== undefined &&
  new Date(operation['x-sunset']) < today

function compareOperations(name: string, old: Operation, now: Operation, context: Context): void {
  const { changes } = context
  if (old['x-auth'] !== now['x-auth']) {
    changes.push(`${name} is labelled ${now['x-auth']}, was ${old['x-auth']}`)
  }
  // Parameters by reference are shared by all operations and do not change.
  const oldParameters = (old.parameters ?? []).filter((one) => !('$ref' in one))
  const parameters = (now.parameters ?? []).filter((one) => !('$ref' in one))
  for (const before of oldParameters) {
    const after = parameters.find((one) => one.name === before.name && one.in === before.in)
    if (!after) changes.push(`${name} no longer takes the ${before.in} parameter ${before.name}`)
    else compareRequest(`${name} ${before.name}`, before.schema, after.schema, context)
  }
  for (const added of parameters) {
    const before = oldParameters.find((one) => one.name === added.name && one.in === added.in)
    if (added.required && !before?.required) changes.push(`${name} now requires ${added.name}`)
  }
  compareBodies(name, old, now, context)
  for (const [status, response] of Object.entries(old.responses)) {
    if (!status.startsWith('2')) continue
    const after = now.responses[status]
    if (!after) {
      changes.push(`${name} no longer answers ${status}`)
      continue
    }
    const before = schemaOf(contentOf(response, context.old))
    compareResponse(`${name} ${status}`, before, schemaOf(contentOf(after, context.now)), context)
  }
  compareFailures(name, old, now, context)
}

/** A documented failure keeps its status, and an `error_code` its name. */
function compareFailures(name: string, old: Operation, now: Operation, context: Context): void {
  const current = failuresOf(now, context.now)
  for (const { status, msg, code } of failuresOf(old, context.old)) {
    const same = current.filter((one) => (code ? one.code === code : one.msg === msg))
    if (same.some((one) => one.status === status)) continue
    if (same[0]) {
      context.changes.push(`${name} answers "${code ?? msg}" with ${same[0].status}, was ${status}`)
    } else if (code) context.changes.push(`${name} no longer answers error_code ${code}`)
  }
}

const failuresOf = ({ responses }: Operation, document: Document) =>
  Object.entries(responses)
    .filter(([status]) => status >= '400')
    .flatMap(([status, response]) => {
      const content = contentOf(response, document)
      return Object.values(content?.['application/json']?.examples ?? {}).map((example) => {
        const value = example.value ?? document.components?.examples?.[nameIn(example)]?.value
        return { status, msg: value?.msg, code: value?.error_code }
      })
    })

const contentOf = (response: Response, { components }: Document): Content | undefined =>
  response.$ref ? components?.responses?.[nameIn(response)]?.content : response.content

/** The last part of a `$ref`, which is the name of the component. */
const nameIn = ({ $ref = '' }: { $ref?: string }): string => $ref.slice($ref.lastIndexOf('/') + 1)

function compareBodies(name: string, old: Operation, now: Operation, context: Context): void {
  const before = schemaOf(old.requestBody?.content)
  const after = schemaOf(now.requestBody?.content)
  if (now.requestBody?.required && !old.requestBody?.required) {
    context.changes.push(`${name} now requires a body`)
  }
  if (before && after) compareRequest(`${name} body`, before, after, context)
  else if (before) context.changes.push(`${name} no longer takes a body`)
}

const schemaOf = (content: Content | undefined) => content?.['application/json']?.schema

const resolve = (schema: Schema, { components }: Document): Schema =>
  schema.$ref ? (components?.schemas?.[nameIn(schema)] ?? {}) : schema

/** A response keeps every field, and a field gets no type that it could not have before. */
function compareResponse(
  place: string,
  before: Schema | undefined,
  after: Schema | undefined,
  context: Context,
): void {
  const { changes, old, now } = context
  if (!before) return
  if (!after) {
    changes.push(`${place} no longer has a body`)
    return
  }
  const was = resolve(before, old)
  const is = resolve(after, now)
  const types = typesOf(is).length > 0 ? typesOf(is) : ['anything']
  const added = types.filter((type) => !typesOf(was).includes(type))
  if (typesOf(was).length > 0 && added.length > 0) {
    changes.push(`${place} may now be ${added.join(', ')}, was ${typesOf(was).join(', ')}`)
  }
  if (was.format !== is.format && was.format !== undefined) {
    changes.push(`${place} is no longer a ${was.format}`)
  }
  if (was.const !== undefined && was.const !== is.const) {
    changes.push(`${place} is no longer ${JSON.stringify(was.const)}`)
  }
  for (const [field, schema] of Object.entries(was.properties ?? {})) {
    const current = is.properties?.[field]
    if (!current) changes.push(`${place} lost the field ${field}`)
    else compareResponse(`${place} ${field}`, schema, current, context)
    const promised = was.required?.includes(field) && !is.required?.includes(field)
    if (current && promised) changes.push(`${place} no longer promises the field ${field}`)
  }
  if (was.items) compareResponse(`${place} []`, was.items, is.items, context)
}

/** A request that was valid must stay valid. */
function compareRequest(place: string, before: Schema, after: Schema, context: Context): void {
  const { changes, old, now } = context
  const was = resolve(before, old)
  const is = resolve(after, now)
  const refused = typesOf(was).filter((type) => !accepts(typesOf(is), type))
  if (typesOf(is).length > 0 && refused.length > 0)
    changes.push(`${place} no longer takes ${refused.join(', ')}`)
  for (const [bound, tighter] of Object.entries(TIGHTER)) {
    const [from, to] = [was[bound as 'minimum'], is[bound as 'minimum']]
    if (to !== undefined && (from === undefined || tighter(from, to))) {
      changes.push(`${place}: ${bound} is now ${to}, was ${from ?? 'unset'}`)
    }
  }
  for (const rule of ['pattern', 'format'] as const) {
    if (is[rule] !== undefined && is[rule] !== was[rule])
      changes.push(`${place}: ${rule} is now ${is[rule]}`)
  }
  const words = wordsOf(is)
  const gone = words ? (wordsOf(was) ?? ['any value']).filter((word) => !words.includes(word)) : []
  if (gone.length > 0) changes.push(`${place} no longer takes ${gone.join(', ')}`)
  for (const field of is.required ?? []) {
    if (!was.required?.includes(field)) changes.push(`${place} now requires ${field}`)
  }
  for (const [field, schema] of Object.entries(was.properties ?? {})) {
    const current = is.properties?.[field]
    if (!current) changes.push(`${place} no longer takes ${field}`)
    else compareRequest(`${place} ${field}`, schema, current, context)
  }
  if (was.items && is.items) compareRequest(`${place} []`, was.items, is.items, context)
}

const TIGHTER: Record<string, (from: number, to: number) => boolean> = {
  minLength: (from, to) => to > from,
  maxLength: (from, to) => to < from,
  minimum: (from, to) => to > from,
  maximum: (from, to) => to < from,
  minItems: (from, to) => to > from,
  maxItems: (from, to) => to < from,
}

const wordsOf = (schema: Schema): unknown[] | undefined =>
  schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
const typesOf = ({ type }: Schema): string[] => (type === undefined ? [] : [type].flat())
const accepts = (types: string[], type: string) =>
  types.includes(type) || (type === 'integer' && types.includes('number'))
