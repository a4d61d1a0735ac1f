import { Ajv, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import fastJson from 'fast-json-stringify'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { type ApiError, InvalidRequest, NoDataProvided } from '../errors.ts'
import { headline, problemsOf } from './problems.ts'

const shared: Options = {
  allErrors: true,
  removeAdditional: true,
  useDefaults: true,
  strict: false,
  addUsedSchema: false,
  // Problems are told in the words of the schema they violate.
  verbose: true,
}

/**
 * Bodies are taken as they are: `{"name": 7}` is a mistake, not the text "7". Paths and queries
 * are text by nature and are converted. Both are compiled when first used, because compiling
 * every route would be most of the start-up time.
 */
export function useSchemas(app: FastifyInstance): void {
  const strict = withFormats(new Ajv(shared))
  const converting = withFormats(new Ajv({ ...shared, coerceTypes: true }))

  // No body and an empty one mean the same: the schema then names the fields that it misses.
  app.addHook('preValidation', (request, _reply, next) => {
    const { schema, config } = request.routeOptions
    const typed = schema?.body !== undefined && config.validation !== 'handler'
    if (typed && !request.rawBody?.length) request.body = {}
    next()
  })

  const compile: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
    let validate: ValidateFunction | undefined
    const part = PARTS[httpPart ?? 'body'] ?? 'body'
    const ajv = part === 'body' ? strict : converting
    const booleans = part === 'query' ? namesOf(schema, ['boolean']) : []
    const numbers = part === 'body' ? [] : namesOf(schema, ['integer', 'number'])
    return (value: unknown) => {
      validate ??= ajv.compile(schema as object)
      if (booleans.length > 0) readBooleans(value as Record<string, unknown>, booleans)
      if (numbers.length > 0) readNumbers(value as Record<string, unknown>, numbers)
      if (validate(value)) return true
      const problems = problemsOf(validate.errors ?? [], part)
      const [first] = problems
      return { error: new InvalidRequest(problems, first && headline(first)) }
    }
  }
  app.setValidatorCompiler(compile)
  // Where the rules judge the body, its schema only describes it.
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

/** Lists are for the rules to judge, whatever was sent in their place; elsewhere `{}` is nothing. */
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

const withFormats = (ajv: Ajv): Ajv => {
  ;(formats as unknown as (ajv: Ajv) => void)(ajv)
  return ajv
}

const namesOf = (schema: unknown, types: string[]): string[] =>
  Object.entries((schema as { properties?: Record<string, { type?: string }> }).properties ?? {})
    .filter(([, property]) => types.includes(property.type ?? ''))
    .map(([name]) => name)

/** `true`, `1`, `false`, `0`, in any case; anything else is left for the schema to refuse. */
function readBooleans(query: Record<string, unknown>, names: string[]): void {
  for (const name of names) {
    const word = typeof query[name] === 'string' ? query[name].toLowerCase() : undefined
    if (word === 'true' || word === '1') query[name] = true
    else if (word === 'false' || word === '0') query[name] = false
    else if (word !== undefined) query[name] = word === '' ? 'empty' : word
  }
}

/** Decimals only: Ajv would take `0x10`, ` 5 ` and `Infinity` as numbers too. */
function readNumbers(values: Record<string, unknown>, names: string[]): void {
  for (const name of names) {
    const text = values[name]
    if (typeof text !== 'string') continue
    if (!/^-?\d+(\.\d+)?$/.test(text) || !Number.isFinite(Number(text))) values[name] = 'no number'
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a handler-validated route answers to a body with nothing in it. */
    noData?: new () => ApiError
    /** To one that is something else than an object; the same as above unless given. */
    noObject?: new () => ApiError
    /** And to one that is no JSON. */
    invalidJson?: new () => ApiError
  }
}
