import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { startApp } from '../../test/support/app.ts'
import { openDatabase } from '../database/database.ts'
import { edgePassword, ensureEdgeRole } from './database-role.ts'

it('the role of the mail servers may use three tables of its own schema and no other', async () => {
  const app = await startApp()
  const { url } = app.database
  const database = openDatabase(url, { pool: 2, name: 'edge' })
  const statementFile = `${app.dataDir}/edge-role.sql`
  await ensureEdgeRole(database.sql, url, {
    password: edgePassword(app.core.vault),
    statementFile,
  })
  await database.close()
  const { rows } = await sql<{ name: string }>`
    select format('%s.%s', table_schema, table_name) as name
    from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema')
      and has_table_privilege('mailplane_edge', format('%I.%I', table_schema, table_name),
        'select, insert, update, delete')
    order by 1`.execute(app.core.db)
  expect(rows.map(({ name }) => name)).toEqual([
    'edge.anyone_shares',
    'edge.quota_usage',
    'edge.user_shares',
  ])
  await app.stop()
})
