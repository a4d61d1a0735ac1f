import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { bulkRows } from './bulk.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it.each([
  ['a tab', 'a\tb'],
  ['a line feed', 'a\nb'],
  ['a carriage return', 'a\r\nb'],
  ['the null marker of COPY', '\\N'],
  ['the word null', 'NULL'],
  ['nothing', ''],
  ['spaces', '  a  '],
  ['a backslash at the end', 'a\\'],
  ['quotes', `"a" 'b'`],
  ['braces and commas', '{a,"b",{}}'],
  ['letters outside ASCII', 'žluťoučký 💥 \u202e'],
])('stores a text with %s unchanged', async (_, text) => {
  const { rows } = await sql<{ value: string }>`
    select value from ${bulkRows({ value: 'text' }, [{ value: text }])} as rows`.execute(
    app.core.db,
  )
  expect(rows).toEqual([{ value: text }])
})

it('converts each column to its type and keeps null apart from the text "null"', async () => {
  const columns = {
    name: 'text',
    size: 'integer',
    count: 'bigint',
    at: 'timestamptz',
    data: 'jsonb',
    active: 'boolean',
    bytes: 'bytea',
  } as const
  const full = {
    name: 'null',
    size: -1,
    count: 9_007_199_254_740_991,
    at: '2026-11-16T08:00:00.123Z',
    data: { text: 'a\t"\\N"\n', list: [1, null] },
    active: false,
    bytes: '\\x00ff',
  }
  const empty = {
    name: null,
    size: null,
    count: null,
    at: null,
    data: null,
    active: null,
    bytes: null,
  }
  const { rows } = await sql`
    select * from ${bulkRows(columns, [full, empty])} as rows`.execute(app.core.db)
  expect(rows).toEqual([{ ...full, bytes: Buffer.from([0, 255]) }, empty])
})

it('returns no row for no rows', async () => {
  const { rows } = await sql`
    select * from ${bulkRows({ name: 'text', size: 'integer' }, [])} as rows`.execute(app.core.db)
  expect(rows).toEqual([])
})
