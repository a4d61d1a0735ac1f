import type { Db, Tx } from '../../../database/database.ts'
import { countExpiredArchive, expireArchive } from '../../archive/archive.compliance.ts'
import { countExpired, expireFromIndex } from '../../rag/rag.compliance.ts'
import * as old from './old-rows.repository.ts'

/** A hold on the whole organization prevents both calls. */
interface Expirer {
  /** Key of its count in the record of the run. */
  name: string
  /** The rows that would be deleted now. */
  count(db: Db, expiring: old.Expiring): Promise<number>
  /**
   * Deletes one batch of old rows, in the transaction that read the legal holds. Returns the number of
   * deleted rows; 0 ends the loop.
   */
  expire(tx: Tx, expiring: old.Expiring): Promise<number>
}

/** A feature that stores data about mail adds its expirer here. */
export const expirers: readonly Expirer[] = [
  { name: 'log_rows', ...old.logRows },
  { name: 'quarantined', ...old.quarantined },
  { name: 'exports', ...old.exports },
  { name: 'clicks', ...old.clicks },
  { name: 'indexed', count: countExpired, expire: expireFromIndex },
  { name: 'archived', count: countExpiredArchive, expire: expireArchive },
]
