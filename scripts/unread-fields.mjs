// Lists stored columns and request fields that nothing reads or writes, and fails when there is one.
// A reader is code that uses a value: columns that are only selected and sent back do not count, unless
// the system writes them for people to see.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'
import { EXCEPTIONS } from './unread-fields.exceptions.mjs'

const read = (file) => readFileSync(join(root, file), 'utf8')
const sources = globSync('src/**/*.ts', { cwd: root }).filter(
  (file) =>
    !/\.(test|schemas|events)\.ts$/.test(file) &&
    !/^src\/(database\/tables|events\/planned|config\/)/.test(file),
)

/** Types that a line `name: string | null` of an interface begins with. */
const TYPE =
  /^(readonly )?['"]?(string|number|boolean|object|unknown|null|Date|Buffer|Json|Timestamp|Nullable|Type\.|FreeForm|OneOf|Bytes|Quota|Record<|Set<|Map<|readonly|\{$|\(|[A-Z]\w*(\[\])?( \| \w+)*,?$)/

const reads = new Set()
const writes = new Set()
const add = (set, text) => {
  for (const [word] of text.matchAll(/[a-z][a-z0-9]*(?:_[a-z0-9]+)*/g)) set.add(word)
}

function examineSource(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  // SQL in templates: its words are read, and written by statements that write.
  for (const [, sql] of code.matchAll(/sql(?:<[^`]*?>)?`([^`]*)`/g)) {
    add(reads, sql)
    if (/insert into|update |set /.test(sql)) add(writes, sql)
  }
  for (const line of code.split('\n')) {
    // A line with a single name selects a column, or passes it on.
    if (/^\s*'(?:\w+\.)?\w+',?$/.test(line) || /^\s*\w+,$/.test(line)) {
      if (/^\s*\w+,$/.test(line)) add(writes, line)
      continue
    }
    const property = /^\s*(\w+)\??: (.*)$/.exec(line)
    if (property && !TYPE.test(property[2])) {
      writes.add(property[1])
      readsIn(property[2])
    } else if (!property) readsIn(line)
    for (const [, name, value] of line.matchAll(/[{,(] (\w+): ([^,}]+)/g)) {
      if (!TYPE.test(value.trim())) writes.add(name)
    }
    for (const [, name] of line.matchAll(/[{,] (\w+)(?=,| \})/g)) writes.add(name)
  }
}

/** Names in quotes are only read where a query compares or sorts by them. */
function readsIn(text) {
  const inQuery =
    /\b(where|whereRef|orderBy|groupBy|having|on|onRef|innerJoin|leftJoin|ref|eb|fn|max|min|sum|columns|first|amount|all)\b/.test(
      text,
    )
  add(reads, inQuery ? text : text.replace(/'[^']*'/g, "''"))
}

function examineMigration(text) {
  const code = text
    .replace(/--.*$/gm, '')
    .replace(/create table [\s\S]*?\n\);/g, '')
    .replace(/create (unique )?index [\s\S]*?;/g, '')
    .replace(/comment on [\s\S]*?;/g, '')
  add(reads, code)
  add(writes, code)
}

for (const file of sources) examineSource(read(file))
for (const file of globSync('migrations/*.sql', { cwd: root })) examineMigration(read(file))

const description = JSON.parse(read('openapi/v1.json'))
const requested = new Map()
const shown = new Set()
const resolve = (schema) =>
  schema?.$ref ? resolve(description.components.schemas[schema.$ref.split('/').at(-1)]) : schema
function namesIn(schema, found, depth = 0) {
  const one = resolve(schema)
  if (!one || depth > 8) return
  for (const [name, child] of Object.entries(one.properties ?? {})) {
    found(name)
    namesIn(child, found, depth + 1)
  }
  namesIn(one.items, found, depth + 1)
  for (const part of [...(one.anyOf ?? []), ...(one.allOf ?? []), ...(one.oneOf ?? [])]) {
    namesIn(part, found, depth + 1)
  }
}
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, { requestBody, responses }] of Object.entries(methods)) {
    const body = resolve(requestBody?.content?.['application/json']?.schema)
    for (const name of Object.keys(body?.properties ?? {})) {
      if (!requested.has(name)) requested.set(name, `${method.toUpperCase()} ${path}`)
    }
    for (const answer of Object.values(responses ?? {})) {
      namesIn(resolve(answer)?.content?.['application/json']?.schema, (name) => shown.add(name))
    }
  }
}

const problems = []
const used = new Set()
const isExcepted = (name) => {
  if (!(name in EXCEPTIONS)) return false
  used.add(name)
  return true
}
let table = ''
for (const line of read('src/database/tables.ts').split('\n')) {
  const start = /^ {2}(?:'([\w.]+)'|(\w+)): \{$/.exec(line)
  if (start) table = start[1] ?? start[2]
  const column = /^ {4}(\w+): (.*)$/.exec(line)
  if (!column || table === '') continue
  const [, name, type] = column
  const label = `${table}.${name}`
  const isSeen = shown.has(name) && !requested.has(name)
  if (!reads.has(name) && !isSeen && !isExcepted(label) && !isExcepted(name)) {
    problems.push(`${label} is stored and nothing reads it`)
  }
  if (!writes.has(name) && !/Generated/.test(type) && !isExcepted(label) && !isExcepted(name)) {
    problems.push(`${label} is never written`)
  }
}
for (const [name, route] of requested) {
  if (!reads.has(name) && !isExcepted(name)) {
    problems.push(`${name} (${route}) is accepted and nothing reads it`)
  }
}
for (const name of Object.keys(EXCEPTIONS)) {
  if (!used.has(name)) problems.push(`the exception ${name} is not needed any more`)
}
if (problems.length > 0) {
  console.error(
    `Fields without a reader or writer (scripts/unread-fields.mjs):\n  ${[...new Set(problems)].join('\n  ')}`,
  )
  process.exitCode = 1
}
