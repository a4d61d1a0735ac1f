import type { Db, Tx } from '../../../database/database.ts'
import type { Level, Resource } from './levels.ts'

export const lockLevel = (tx: Tx, host: string, resource: Resource) =>
  tx
    .selectFrom('host_health')
    .select(['level', 'changed_at'])
    .where('host', '=', host)
    .where('resource', '=', resource)
    .forUpdate()
    .executeTakeFirst()

interface HostState {
  host: string
  resource: Resource
  level: Level
  percent: number
  checked_at: string
  changed_at: string
}

export const storeLevel = (tx: Tx, state: HostState) =>
  tx
    .insertInto('host_health')
    .values(state)
    .onConflict((conflict) => conflict.columns(['host', 'resource']).doUpdateSet(state))
    .execute()

export const levels = (db: Db): Promise<HostState[]> =>
  db
    .selectFrom('host_health')
    .select(['host', 'resource', 'level', 'percent', 'checked_at', 'changed_at'])
    .orderBy('host')
    .orderBy('resource')
    .execute()
