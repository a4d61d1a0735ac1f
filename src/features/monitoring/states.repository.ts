import type { Config } from '../../config/index.ts'
import type { Db, Tx } from '../../database/database.ts'

// Longer than a sweep in which every probe times out.
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

/** The states of the last sweep; empty when it is too old to rely on. */
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

/** Locked until the changes are stored, so that concurrent sweeps emit each change once. */
export async function lockStates(tx: Tx): Promise<Map<string, ServiceState>> {
  await tx.selectFrom('service_health').select('name').orderBy('name').forUpdate().execute()
  const rows = await tx.selectFrom('service_health').select(columns).execute()
  return new Map(rows.map((row) => [row.name, row]))
}

export const storeState = (tx: Tx, state: ServiceState) =>
  tx
    .insertInto('service_health')
    .values(state)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(state))
    .execute()

/** Deletes services that are no longer part of the installation. */
export const forgetState = (tx: Tx, name: string) =>
  tx.deleteFrom('service_health').where('name', '=', name).execute()
