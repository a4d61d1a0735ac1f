import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const rowsOf = async (text: string) => (await sql.raw(text).execute(app.core.db)).rows

it('returns every column under its name, also when the name has quotes and backslashes', async () => {
  const text = `select 1 as a, null as "the "" quote", 'x' as "back\\slash", 2 as "a: 1 }; {'"`
  for (let time = 0; time < 3; time++) {
    expect(await rowsOf(text)).toEqual([
      { a: 1, 'the " quote': null, 'back\\slash': 'x', "a: 1 }; {'": 2 },
    ])
  }
})

it('keeps the order of the rows and the last of two columns with the same name', async () => {
  expect(await rowsOf('select n as a, n * 10 as a from generate_series(1, 3) n')).toEqual([
    { a: 10 },
    { a: 20 },
    { a: 30 },
  ])
})

it('counts the affected rows of a statement with and without returning', async () => {
  const { db } = app.core
  await sql`create table counted (n integer)`.execute(db)
  const added = await sql`insert into counted values (1), (2), (3)`.execute(db)
  expect(added).toMatchObject({ rows: [], numAffectedRows: 3n })
  const gone = await sql`delete from counted where n > 1 returning n`.execute(db)
  expect(gone).toMatchObject({ rows: [{ n: 2 }, { n: 3 }], numAffectedRows: 2n })
})

it('returns new columns after a table was altered', async () => {
  await sql`create table changing (a integer)`.execute(app.core.db)
  await sql`insert into changing values (1)`.execute(app.core.db)
  const all = 'select * from changing'
  for (let time = 0; time < 8; time++) expect(await rowsOf(all)).toEqual([{ a: 1 }])
  await sql`alter table changing add column b text default 'new'`.execute(app.core.db)
  for (let time = 0; time < 8; time++) expect(await rowsOf(all)).toEqual([{ a: 1, b: 'new' }])
})

const HOSTILE = ['a\tb', 'a\nb', 'a,b', '{a}', '"a"', 'a\\', '\\N', 'NULL', '', ' a ', 'ž💥']

it('passes arrays as parameters and returns them unchanged', async () => {
  const { rows } = await sql`
    select ${HOSTILE}::text[] as texts, ${[1, -2]}::smallint[] as small, ${[3]}::integer[] as plain,
      ${[2 ** 40]}::bigint[] as large, ${['2026-11-15T02:37:58.5Z']}::timestamptz[] as times,
      ${[]}::text[] as empty, ${['a', null]}::text[] as partly`.execute(app.core.db)
  expect(rows).toEqual([
    {
      texts: HOSTILE,
      small: [1, -2],
      plain: [3],
      large: [2 ** 40],
      times: ['2026-11-15T02:37:58.500Z'],
      empty: [],
      partly: ['a', null],
    },
  ])
})

it('passes JSON values as parameters and returns them unchanged', async () => {
  for (const value of [{ a: [1, null] }, [], ['a', '{}'], [{ b: HOSTILE }]]) {
    const { rows } = await sql<{ value: unknown }>`
      select ${value}::jsonb as value`.execute(app.core.db)
    expect(rows).toEqual([{ value }])
  }
})
