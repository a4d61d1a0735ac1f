import type { Config } from '../../config.ts'
import type { Db } from '../../database/database.ts'

// A sweep that waits for every time limit still ends within this.
const SPARE_SECONDS = 30

const columns = [
  'name',
  'status',
  'protocol',
  'critical',
  'response_time',
  'check_duration',
  'error',
  'checked_at',
  'changed_at',
] as const

export type ServiceState = Awaited<ReturnType<typeof freshStates>>[number]

/** As the last sweep left them; none, when that was too long ago to rely on. */
export const freshStates = (
  db: Db,
  config: Pick<Config, 'MONITORING_SWEEP_SECONDS'>,
  now: Date,
) => {
  const age = (3 * config.MONITORING_SWEEP_SECONDS + SPARE_SECONDS) * 1000
  return db
    .selectFrom('service_health')
    .select(columns)
    .where('checked_at', '>', new Date(now.getTime() - age).toISOString())
    .orderBy('name')
    .execute()
}
