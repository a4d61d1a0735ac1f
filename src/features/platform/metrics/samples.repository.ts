import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Range, Series } from './metric-names.ts'

interface Row {
  label: string
  t: string
  v: number
}

/** Returns the stored samples, averaged over each step. */
export async function samplesBetween(
  db: Db,
  metric: string,
  { start, end, stepSeconds }: Range,
): Promise<Series[]> {
  const { rows } = await sql<Row>`
    select label, avg(value) as v,
      date_bin(make_interval(secs => ${stepSeconds}), minute, 'epoch'::timestamptz) as t
    from metric_samples
    where metric = ${metric} and minute >= ${start.toISOString()} and minute <= ${end.toISOString()}
    group by label, t order by label, t`.execute(db)
  const series = new Map<string, Series>()
  for (const { label, t, v } of rows) {
    const entry = series.get(label) ?? { metric, label, points: [] }
    series.set(label, entry)
    entry.points.push({ t, v })
  }
  return [...series.values()]
}
