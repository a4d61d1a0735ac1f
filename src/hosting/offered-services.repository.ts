import { sql } from 'kysely'
import type { Db } from '../database/database.ts'

/** Several heartbeats may be lost before a process counts as gone. */
const ALIVE_SECONDS = 15
/** DNS records and settings of mail programs must not change with every restart. */
const OFFERED_SECONDS = 600

/** Returns whether a process runs this service now. */
export const isAlive = (db: Db, service: string) => wasSeen(db, service, ALIVE_SECONDS)

/** Returns whether the installation offers this service to mail programs. */
export const isOffered = (db: Db, service: string) => wasSeen(db, service, OFFERED_SECONDS)

/** Uses the database clock, as the heartbeats do. */
async function wasSeen(db: Db, service: string, seconds: number): Promise<boolean> {
  const { rows } = await sql`
    select from daemon_heartbeats
    where name = ${service} and seen_at > now() - make_interval(secs => ${seconds})
    limit 1`.execute(db)
  return rows.length > 0
}
