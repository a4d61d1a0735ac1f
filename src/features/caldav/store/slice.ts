import { type Expression, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** The data of objects that is read at once; a single object may have more. */
const MAX_BYTES = 8 * 1024 * 1024

/**
 * The first rows of a page, in the order of a key, whose data has at most MAX_BYTES; at least one.
 * PostgreSQL knows the sizes without reading the data.
 */
export async function slice<Row>(
  db: Db,
  page: Expression<Row>,
  key: 'uri' | 'seq',
): Promise<{ rows: Row[]; isWholePage: boolean }> {
  const { rows } = await sql<Row & { found: number | string }>`
    select * from (
      select page.*, count(*) over () as found, sum(size) over (order by ${sql.ref(key)}) as bytes
      from ${page} as page
    ) as sized
    where bytes <= ${MAX_BYTES} or bytes = size
    order by ${sql.ref(key)}`.execute(db)
  return { rows, isWholePage: rows.length === Number(rows[0]?.found ?? 0) }
}
