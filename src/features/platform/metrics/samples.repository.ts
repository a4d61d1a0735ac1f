import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Range, Series } from './metric-names.ts'

interface Row {
  label: string
  t: string
  v: number
}

/** The stored samples, averaged over each step. */
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
    let one = series.get(label)
    if (!one) {
      one = { metric, label, points: [] }
      series.set(label, one)
    }
    one.points.push({ t, v })
  }
  return [...series.values()]
}

export const deleteSamplesBefore = (db: Db, before: Date) =>
  db.deleteFrom('metric_samples').where('minute', '<', before.toISOString()).execute()

export interface Sample {
  metric: string
  label: string
  value: number
}

/** A minute has one value: who comes second leaves it as it is. */
export async function insertSamples(db: Db, minute: Date, samples: Sample[]): Promise<void> {
  if (samples.length === 0) return
  await db
    .insertInto('metric_samples')
    .values(samples.map((sample) => ({ ...sample, minute: minute.toISOString() })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
