// Writes src/database/tables.ts from a freshly migrated database; `--check` only compares. Imports the
// TypeScript sources directly, because the build itself needs the types of a new table.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const { prepareDataDir } = await import('../src/database/data-dir.ts')
const { openDatabase } = await import('../src/database/database.ts')
const { startEmbedded } = await import('../src/database/embedded.ts')
const { migrate } = await import('../src/database/migrate.ts')

const TYPES = {
  text: 'string',
  boolean: 'boolean',
  integer: 'number',
  smallint: 'number',
  bigint: 'number',
  'double precision': 'number',
  real: 'number',
  jsonb: 'Json',
  bytea: 'Buffer',
  'timestamp with time zone': 'Timestamp',
  ARRAY: 'string[]',
  inet: 'string',
  date: 'string',
  numeric: 'string',
  tsvector: 'string',
  bit: 'string',
}

const folder = mkdtempSync(join(tmpdir(), 'mailplane-types-'))
prepareDataDir(folder)
const server = await startEmbedded(folder, () => {})
const database = openDatabase(server.target, { pool: 1, name: 'types' })
await migrate(database.sql)
const columns = await database.sql`
  select table_name, column_name, data_type, is_nullable, column_default, is_identity, is_generated
  from information_schema.columns
  where table_schema = 'public' and table_name <> 'schema_migrations'
  order by table_name, ordinal_position`
// A column with a CHECK constraint on a list of values becomes a union type.
const constraints = await database.sql`
  select c.conrelid::regclass::text as table_name, a.attname as column_name,
    pg_get_constraintdef(c.oid) as definition
  from pg_constraint c
  join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
  where c.contype = 'c' and array_length(c.conkey, 1) = 1`
const words = new Map()
for (const { table_name, column_name, definition } of constraints) {
  const list = /^CHECK \(\(\w+ = (?:ANY \(ARRAY\[(.*)\]\)|('[^']*'::text))\)\)$/.exec(definition)
  const literals = (list?.[1] ?? list?.[2])?.match(/'[^']*'(?=::text)/g)
  if (literals) words.set(`${table_name}.${column_name}`, literals.join(' | '))
}
await database.close()
await server.stop()
rmSync(folder, { recursive: true, force: true })

const tables = new Map()
for (const column of columns) {
  const base = words.get(`${column.table_name}.${column.column_name}`) ?? TYPES[column.data_type]
  if (!base)
    throw new Error(`${column.table_name}.${column.column_name}: no type for ${column.data_type}`)
  const nullable = column.is_nullable === 'YES' ? `${base} | null` : base
  const isGenerated = column.is_identity === 'YES' || column.is_generated === 'ALWAYS'
  const optional = column.column_default !== null
  const json = base === 'Json' && optional ? 'JsonWithDefault' : undefined
  const type =
    json ??
    (isGenerated ? `GeneratedAlways<${nullable}>` : optional ? `Generated<${nullable}>` : nullable)
  const list = tables.get(column.table_name) ?? []
  list.push(`    ${column.column_name}: ${type}`)
  tables.set(column.table_name, list)
}
const text = `// Written by \`npm run db:types\` from the migrated database; do not edit.
import type { Generated, GeneratedAlways } from 'kysely'

/** Parsed JSON both ways; text would be stored as a JSON string. */
export type Json = object
export type JsonWithDefault = Generated<object>
/** ISO 8601 text, in UTC. */
export type Timestamp = string

export interface Tables {
${[...tables].map(([name, list]) => `  ${name}: {\n${list.join('\n')}\n  }`).join('\n')}
}
`
const file = join(root, 'src', 'database', 'tables.ts')
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write('src/database/tables.ts is out of date; run npm run db:types\n')
    process.exit(1)
  }
} else writeFileSync(file, text)
