import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export interface Gauge {
  hostname: string
  backup_type: string
  last_success_at: string | null
  last_status: 'running' | 'completed' | 'failed'
  last_size_bytes: number | null
  unencrypted_runs: number
}

/** The last success, status and size for each host and type of backup. */
export async function gauges(db: Db): Promise<Gauge[]> {
  const { rows } = await sql<Gauge>`
    select hostname, backup_type,
      max(completed_at) filter (where status = 'completed') as last_success_at,
      (array_agg(status order by started_at desc, id desc))[1] as last_status,
      (array_agg(size_bytes order by started_at desc, id desc))[1] as last_size_bytes,
      count(*) filter (where not encrypted) as unencrypted_runs
    from backup_runs group by hostname, backup_type order by hostname, backup_type`.execute(db)
  return rows
}
