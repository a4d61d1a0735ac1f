// Writes web/api/schema.ts, the types of the API for the web app, from openapi/v1.json. With `--check`
// it only compares. See docs/adr/0016-web-app.md for why no package does this.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PREFIX = '/api/v1'
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** The text of the file for an OpenAPI document. */
export function webTypes(document) {
  const { paths, components } = document
  const parts = ['// Written by `npm run openapi` from openapi/v1.json.\n']
  for (const [name, schema] of Object.entries(components.schemas)) {
    parts.push(`${comment(schema.description, '')}export type ${name} = ${typeOf(schema)}\n`)
  }
  const operations = operationsOf(paths)
  for (const method of METHODS) {
    const entries = operations.filter((operation) => operation.method === method)
    const body = entries.map((entry) => operationType(entry, components)).join('')
    parts.push(`export interface ${method[0].toUpperCase()}${method.slice(1)} {\n${body}}\n`)
  }
  const levels = operations.map(
    ({ method, path, operation }) =>
      `  '${method.toUpperCase()} ${path}': ${quote(levelOf(operation['x-auth']))}\n`,
  )
  parts.push(
    `/** The access level that each operation needs. */\nexport interface Levels {\n${levels.join('')}}\n`,
  )
  return parts.join('\n')
}

function operationsOf(paths) {
  const found = []
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith(PREFIX)) continue
    for (const method of METHODS) {
      if (item[method])
        found.push({ method, path: path.slice(PREFIX.length), operation: item[method] })
    }
  }
  return found
}

function operationType({ path, operation }, components) {
  const parameters = (operation.parameters ?? []).map((one) => resolve(one, components))
  const params = parametersType(parameters, 'path')
  const query = parametersType(parameters, 'query')
  const body = operation.requestBody?.content?.['application/json']?.schema
  const bodyMark = operation.requestBody?.required === false ? '?' : ''
  return [
    comment(`${operation.summary}. ${operation['x-auth']}`, '  '),
    `  ${quote(path)}: {\n`,
    params ? `    params: ${params.type}\n` : '',
    query ? `    query${query.required ? '' : '?'}: ${query.type}\n` : '',
    body ? `    body${bodyMark}: ${typeOf(body, '    ')}\n` : '',
    `    data: ${dataType(operation)}\n  }\n`,
  ].join('')
}

/** The client unwraps the envelope, so its `data` is the type of the answer. */
function dataType({ responses }) {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const schema = success?.content?.['application/json']?.schema
  if (!schema) return 'undefined'
  const isEnvelope = schema.properties?.type?.const === 'success'
  return isEnvelope ? typeOf(schema.properties.data, '    ') : typeOf(schema, '    ')
}

function parametersType(parameters, place) {
  const chosen = parameters.filter((parameter) => parameter.in === place)
  if (chosen.length === 0) return undefined
  const required = chosen.filter((parameter) => parameter.required).map(({ name }) => name)
  const properties = Object.fromEntries(
    chosen.map(({ name, schema, description }) => [name, { ...schema, description }]),
  )
  return { type: objectType({ properties, required }, '    '), required: required.length > 0 }
}

const resolve = (item, components) =>
  item.$ref
    ? item.$ref
        .slice(2)
        .split('/')
        .reduce((at, part) => at[part], { components })
    : item

function typeOf(schema, pad = '') {
  if (schema === undefined || schema === true) return 'unknown'
  if (schema.$ref) return schema.$ref.split('/').pop()
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return alternatives.map((one) => typeOf(one, pad)).join(' | ')
  return [schema.type ?? 'unknown']
    .flat()
    .map((type) => simpleType(type, schema, pad))
    .join(' | ')
}

function simpleType(type, schema, pad) {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'array') return `Array<${typeOf(schema.items, pad)}>`
  if (type === 'object') return objectType(schema, pad)
  return 'unknown'
}

function objectType(
  { properties = {}, required = [], additionalProperties, patternProperties },
  pad,
) {
  const inner = `${pad}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(schema.description, inner)}${inner}${key(name)}${mark}: ${typeOf(schema, inner)}\n`
  })
  if (fields.length > 0) return `{\n${fields.join('')}${pad}}`
  const values = Object.values(patternProperties ?? {})[0] ?? additionalProperties
  return `Record<string, ${typeof values === 'object' ? typeOf(values, pad) : 'unknown'}>`
}

/** `Key(write)` becomes `write`, `Operator(support+)` becomes `support`; other labels stay. */
const levelOf = (auth) => /^(?:Key|Operator)\((\w+)\+?\)$/.exec(auth)?.[1] ?? auth

const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name))
const quote = (text) => `'${text.replaceAll("'", "\\'")}'`
const comment = (text, pad) => (text ? `${pad}/** ${text.replaceAll('*/', '*\\/')} */\n` : '')

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const file = join(root, 'web', 'api', 'schema.ts')
  const text = webTypes(JSON.parse(readFileSync(join(root, 'openapi', 'v1.json'), 'utf8')))
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write('web/api/schema.ts differs from openapi/v1.json; run npm run openapi\n')
    process.exitCode = 1
  }
}
