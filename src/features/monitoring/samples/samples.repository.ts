import type { Db } from '../../../database/database.ts'

export const deleteSamplesBefore = (db: Db, before: Date) =>
  db.deleteFrom('metric_samples').where('minute', '<', before.toISOString()).execute()

export interface Sample {
  metric: string
  label: string
  value: number
}

/** Each series has one value per minute; the first one stored wins. */
export async function insertSamples(db: Db, minute: Date, samples: Sample[]): Promise<void> {
  if (samples.length === 0) return
  await db
    .insertInto('metric_samples')
    .values(samples.map((sample) => ({ ...sample, minute: minute.toISOString() })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
