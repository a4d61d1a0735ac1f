import { Ajv, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import fastJson from 'fast-json-stringify'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { type ApiError, InvalidRequest, NoDataProvided } from '../errors.ts'
import { headline, problemsOf } from './problems.ts'

const shared: Options = {
  removeAdditional: true,
  useDefaults: true,
  strict: false,
  addUsedSchema: false,
  // The tests check the schemas; checking them again would compile the meta-schema in every process.
  validateSchema: false,
  // Error messages use texts of the violated schema.
  verbose: true,
}

/** Collecting every problem of a larger body could take seconds. */
const MAX_EXAMINED_BYTES = 16 * 1024

/**
 * Validates bodies without conversion (`{"name": 7}` is an error, not the text "7"), and path and
 * query values with conversion, since they are text. Schemas are compiled on first use, because
 * compiling all of them would take most of the start-up time.
 */
export function useSchemas(app: FastifyInstance): void {
  const strict = validators(shared)
  const converting = validators({ ...shared, coerceTypes: true })

  // A missing body counts as `{}`, so that the schema reports the missing fields.
  app.addHook('preValidation', (request, _reply, next) => {
    const { schema, config } = request.routeOptions
    const typed = schema?.body !== undefined && config.validation !== 'handler'
    if (typed && !request.rawBody?.length) request.body = {}
    next()
  })

  const compile: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
    let validate: ValidateFunction | undefined
    let examine: ValidateFunction | undefined
    const part = PARTS[httpPart ?? 'body'] ?? 'body'
    const ajv = part === 'body' ? strict : converting
    const booleans = part === 'query' ? namesOf(schema, ['boolean']) : []
    const numbers = part === 'body' ? [] : namesOf(schema, ['integer', 'number'])
    return (value: unknown) => {
      validate ??= ajv.first.compile(schema as object)
      if (booleans.length > 0) readBooleans(value as Record<string, unknown>, booleans)
      if (numbers.length > 0) readNumbers(value as Record<string, unknown>, numbers)
      if (validate(value)) return true
      let { errors } = validate
      if (part !== 'body' || isSmall(value)) {
        examine ??= ajv.every.compile(schema as object)
        examine(value)
        errors = examine.errors ?? errors
      }
      const problems = problemsOf(errors ?? [], part)
      const [first] = problems
      return { error: new InvalidRequest(problems, first && headline(first)) }
    }
  }
  app.setValidatorCompiler(compile)
  // On such routes the service validates the body; the schema only documents it.
  app.addHook('onRoute', (route) => {
    if (route.config?.validation !== 'handler') return
    route.validatorCompiler = (part) =>
      part.httpPart === 'body'
        ? hasData(part.schema as { type?: string }, route.config ?? {})
        : compile(part)
  })

  app.setSerializerCompiler(({ schema }) => {
    let serialize: ((value: unknown) => string) | undefined
    return (value) => {
      serialize ??= fastJson(schema as never) as (value: unknown) => string
      return serialize(value)
    }
  })
}

/** Rejects a body without data. List bodies are left to the service, other bodies need a field. */
const hasData =
  ({ type }: { type?: string }, { noData: NoData = NoDataProvided, noObject }: NoDataErrors) =>
  (value: unknown) => {
    if (type === 'array') return value !== null || { error: new NoData() }
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
    if (!isObject && noObject) return { error: new noObject() }
    return (isObject && Object.keys(value).length > 0) || { error: new NoData() }
  }

interface NoDataErrors {
  noData?: new () => ApiError
  noObject?: new () => ApiError
}

const PARTS: Record<string, string> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
}

/** One validator stops at the first problem, the other finds every problem. */
const validators = (options: Options) => ({
  first: withFormats(new Ajv(options)),
  every: withFormats(new Ajv({ ...options, allErrors: true })),
})

/** Counts values and characters, and stops at the limit. */
function isSmall(value: unknown): boolean {
  let left = MAX_EXAMINED_BYTES
  const open = [value]
  while (open.length > 0 && left > 0) {
    const one = open.pop()
    left -= typeof one === 'string' ? one.length : 2
    if (one === null || typeof one !== 'object') continue
    for (const name in one) {
      left -= name.length
      if (left <= 0) return false
      open.push((one as Record<string, unknown>)[name])
    }
  }
  return left > 0
}

const withFormats = (ajv: Ajv): Ajv => {
  ;(formats as unknown as (ajv: Ajv) => void)(ajv)
  return ajv
}

const namesOf = (schema: unknown, types: string[]): string[] =>
  Object.entries((schema as { properties?: Record<string, { type?: string }> }).properties ?? {})
    .filter(([, property]) => types.includes(property.type ?? ''))
    .map(([name]) => name)

/** Converts `true`, `1`, `false` and `0` in any case; the schema rejects other values. */
function readBooleans(query: Record<string, unknown>, names: string[]): void {
  for (const name of names) {
    const word = typeof query[name] === 'string' ? query[name].toLowerCase() : undefined
    if (word === 'true' || word === '1') query[name] = true
    else if (word === 'false' || word === '0') query[name] = false
    else if (word !== undefined) query[name] = word === '' ? 'empty' : word
  }
}

/** Accepts decimals only: Ajv would also convert `0x10`, ` 5 ` and `Infinity`. */
function readNumbers(values: Record<string, unknown>, names: string[]): void {
  for (const name of names) {
    const text = values[name]
    if (typeof text !== 'string') continue
    if (!/^-?\d+(\.\d+)?$/.test(text) || !Number.isFinite(Number(text))) values[name] = 'no number'
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Error of a route with `validation: 'handler'` for a body without data. */
    noData?: new () => ApiError
    /** Its error for a body that is not an object; `noData` unless given. */
    noObject?: new () => ApiError
    /** Its error for a body that is not JSON. */
    invalidJson?: new () => ApiError
  }
}
