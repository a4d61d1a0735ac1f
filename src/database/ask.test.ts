import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const rowsOf = async (text: string) => (await sql.raw(text).execute(app.core.db)).rows

it('gives each value its name, whatever the name is', async () => {
  const text = `select 1 as a, null as "the "" quote", 'x' as "back\\slash", 2 as "a: 1 }; {'"`
  for (let time = 0; time < 3; time++) {
    expect(await rowsOf(text)).toEqual([
      { a: 1, 'the " quote': null, 'back\\slash': 'x', "a: 1 }; {'": 2 },
    ])
  }
})

it('keeps the order of rows, and of two values with one name the last', async () => {
  expect(await rowsOf('select n as a, n * 10 as a from generate_series(1, 3) n')).toEqual([
    { a: 10 },
    { a: 20 },
    { a: 30 },
  ])
})

it('knows how many rows a statement concerned, with and without an answer', async () => {
  const { db } = app.core
  await sql`create table counted (n integer)`.execute(db)
  const added = await sql`insert into counted values (1), (2), (3)`.execute(db)
  expect(added).toMatchObject({ rows: [], numAffectedRows: 3n })
  const gone = await sql`delete from counted where n > 1 returning n`.execute(db)
  expect(gone).toMatchObject({ rows: [{ n: 2 }, { n: 3 }], numAffectedRows: 2n })
})

it('follows a table whose columns have changed', async () => {
  await sql`create table changing (a integer)`.execute(app.core.db)
  await sql`insert into changing values (1)`.execute(app.core.db)
  const all = 'select * from changing'
  for (let time = 0; time < 8; time++) expect(await rowsOf(all)).toEqual([{ a: 1 }])
  await sql`alter table changing add column b text default 'new'`.execute(app.core.db)
  for (let time = 0; time < 8; time++) expect(await rowsOf(all)).toEqual([{ a: 1, b: 'new' }])
})
