import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { workNames } from '../../../../test/support/work-names.ts'
import { erasers } from '../erasure/erasers.ts'
import { expirers } from '../retention/expirers.ts'
import { isKey, words } from './personal-table.ts'
import { register } from './register.ts'
import { tablesWithout } from './tables-without.ts'

let app: App
let schema: Map<string, { columns: Set<string>; texts: string[] }>
beforeAll(async () => {
  app = await startApp()
  schema = await readSchema()
})
afterAll(() => app.stop())

/** Columns that can hold text about a person; a fixed list of values cannot. */
async function readSchema(): Promise<typeof schema> {
  const { rows } = await sql<{ name: string; column: string; is_text: boolean }>`
    select case table_schema when 'public' then table_name else table_schema || '.' || table_name end
        as name,
      column_name as column,
      data_type not in ('boolean', 'integer', 'smallint', 'bigint', 'double precision', 'real',
          'numeric', 'date', 'timestamp with time zone')
        and not exists (
          select from pg_constraint
          where contype = 'c'
            and conrelid = format('%I.%I', table_schema, table_name)::regclass
            and pg_get_constraintdef(oid) like any (array[
              'CHECK ((' || quote_ident(column_name) || ' = ANY (%',
              'CHECK ((' || quote_ident(column_name) || ' = ''%']))
        as is_text
    from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_type = 'BASE TABLE' and table_name <> 'schema_migrations'
      -- The schema days has the partitions of tables in public.
      and table_schema not in ('pg_catalog', 'information_schema', 'days')
    order by 1, ordinal_position`.execute(app.core.db)
  const tables: typeof schema = new Map()
  for (const { name, column, is_text } of rows) {
    const table = tables.get(name) ?? { columns: new Set(), texts: [] }
    table.columns.add(column)
    if (is_text && !isKey(column)) table.texts.push(column)
    tables.set(name, table)
  }
  return tables
}

const expirerNames = expirers.map(({ name }) => `retention.${name}`)

describe('the register of personal data', () => {
  it('lists every table once, as one with or without data about people', () => {
    const listed = [...register.map(({ table }) => table), ...Object.keys(tablesWithout)]
    expect(listed.toSorted()).toEqual([...schema.keys()].toSorted())
  })

  it('lists every column that can hold text, in register.ts or tables-without.ts', () => {
    const forgotten: string[] = []
    for (const [table, { texts }] of schema) {
      const entry = register.find((one) => one.table === table)
      const listed = new Set(
        words(
          entry
            ? `${entry.personal} ${entry.plain} ${entry.actors ?? ''}`
            : (tablesWithout[table] ?? ''),
        ),
      )
      forgotten.push(...texts.filter((one) => !listed.has(one)).map((one) => `${table}.${one}`))
    }
    expect(forgotten).toEqual([])
  })

  it('names only columns that exist', () => {
    const unknown: string[] = []
    const compare = (table: string, names: readonly string[]) => {
      const columns = schema.get(table)?.columns
      unknown.push(...names.filter((one) => !columns?.has(one)).map((one) => `${table}.${one}`))
    }
    for (const [table, names] of Object.entries(tablesWithout)) compare(table, words(names))
    for (const { table, personal, plain, actors, owner, withheld, erased } of register) {
      const names = `${personal} ${plain} ${actors ?? ''} ${owner ?? ''} ${withheld ?? ''}`
      compare(table, words(names))
      if ('rename' in erased) compare(table, [...erased.rename, ...erased.clear])
    }
    expect(unknown).toEqual([])
  })

  it('renames or clears every personal column of rows that stay', () => {
    for (const { table, personal, erased } of register) {
      if (!('rename' in erased)) continue
      expect([...erased.rename, ...erased.clear].sort(), table).toEqual(words(personal).sort())
    }
  })

  it('lists every column that names a caller as data about a person', () => {
    // An operator is named by id, the owner of a lease by process.
    const others = ['operators.created_by', 'rag_folders.begun_by']
    const forgotten: string[] = []
    for (const [table, { texts }] of schema) {
      const entry = register.find((one) => one.table === table)
      const listed = words(`${entry?.personal ?? ''} ${entry?.actors ?? ''}`)
      const names = texts.filter((one) => /_by$|^author$|^actor$/.test(one))
      forgotten.push(
        ...names.filter((one) => !listed.includes(one)).map((one) => `${table}.${one}`),
      )
    }
    expect(forgotten.filter((one) => !others.includes(one))).toEqual([])
  })

  it('withholds the names of callers from every exported table', () => {
    const exported = register.filter((entry) => entry.exported === 'records')
    const shown = exported.flatMap(({ table, actors = '', withheld = '' }) =>
      words(actors)
        .filter((one) => !words(withheld).includes(one))
        .map((one) => `${table}.${one}`),
    )
    expect(shown).toEqual([])
  })

  it('names only erasers that exist', () => {
    const names = new Set(erasers.map(({ name }) => name))
    const wanted = register.flatMap(({ erased }) => ('by' in erased ? [erased.by] : []))
    expect(wanted.filter((name) => !names.has(name))).toEqual([])
  })

  it('names only jobs, chores and expirers that exist', async () => {
    const names = new Set([...(await workNames(app.core)), ...expirerNames])
    const named = register.flatMap(({ expired }) => ('by' in expired ? words(expired.by) : []))
    expect(named.filter((name) => !names.has(name))).toEqual([])
    expect(expirerNames.filter((name) => !named.includes(name))).toEqual([])
  })

  it('names a foreign key that cascades for rows that go with others', async () => {
    const { rows } = await sql<{ pair: string }>`
      select format('%s with %s', conrelid::regclass, confrelid::regclass) as pair
      from pg_constraint where contype = 'f' and confdeltype = 'c'`.execute(app.core.db)
    const cascading = new Set(rows.map(({ pair }) => pair))
    const named = register.flatMap(({ table, expired }) =>
      'with' in expired ? [`${table} with ${expired.with}`] : [],
    )
    expect(named.filter((pair) => !cascading.has(pair))).toEqual([])
  })

  it('withholds every secret of an exported table', () => {
    const exported = register.filter((entry) => entry.exported === 'records')
    const secrets = exported.flatMap(({ table, withheld = '' }) =>
      [...(schema.get(table)?.columns ?? [])]
        .filter((one) => /password|secret|token|_key$|credentials$/.test(one))
        .filter((one) => !words(withheld).includes(one))
        .map((one) => `${table}.${one}`),
    )
    expect(secrets).toEqual([])
  })
})
