import type { Db, Tx } from '../../../database/database.ts'
import type { PastDays } from '../../../hosting/past-days.ts'
import { countExpiredArchive, expireArchive } from '../../archive/archive.compliance.ts'
import { countExpired, expireFromIndex } from '../../rag/rag.compliance.ts'
import * as old from './old-rows.repository.ts'
import { countPast, expirePast } from './past-rows.ts'

/** A hold on the whole organization prevents both calls. */
interface Expirer {
  /** Key of its count in the record of the run. */
  name: string
  /** The rows that would be deleted now. */
  count(db: Db, expiring: old.Expiring, past: PastDays): Promise<number>
  /**
   * Deletes one batch of old rows, in the transaction that read the legal holds. Returns the number of
   * deleted rows; 0 ends the loop.
   */
  expire(tx: Tx, expiring: old.Expiring, past: PastDays): Promise<number>
}

/** A feature that stores data about mail adds its expirer here. */
export const expirers: readonly Expirer[] = [
  {
    name: 'log_rows',
    count: async (db, expiring, past) =>
      (await old.logRows.count(db, expiring)) + (await countPast(past, expiring)),
    // First the rows in PostgreSQL, so that a day which moves meanwhile is not missed.
    expire: async (tx, expiring, past) =>
      (await old.logRows.expire(tx, expiring)) || expirePast(past, expiring),
  },
  { name: 'quarantined', ...old.quarantined },
  { name: 'exports', ...old.exports },
  { name: 'clicks', ...old.clicks },
  { name: 'dlp_violations', ...old.dlpViolations },
  { name: 'indexed', count: countExpired, expire: expireFromIndex },
  { name: 'archived', count: countExpiredArchive, expire: expireArchive },
]
