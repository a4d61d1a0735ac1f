import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { expireFromIndex } from '../../rag/rag.compliance.ts'
import * as old from './old-rows.repository.ts'

/** What of an organization is too old, and whose must be kept all the same. */
export interface Expiring {
  organization_id: string
  before: Date
  /** Addresses under a legal hold. Where a hold covers everybody, nothing is expired at all. */
  held: string[]
}

/** Deletes one kind of old rows, some at a time, in the transaction in which the holds were read. */
export interface Expirer {
  /** Under this name its count stands in the record of the run. */
  name: string
  /** Answers how many it deleted: none when there are no more. */
  expire(tx: Tx, core: Core, expiring: Expiring): Promise<number>
}

/** All there are. A feature that keeps something about mail adds its own here. */
export const expirers: readonly Expirer[] = [
  { name: 'log_rows', expire: (tx, _core, expiring) => old.deleteLogRows(tx, expiring) },
  { name: 'quarantined', expire: (tx, _core, expiring) => old.deleteQuarantined(tx, expiring) },
  { name: 'exports', expire: (tx, _core, expiring) => old.deleteExports(tx, expiring) },
  { name: 'indexed', expire: (tx, _core, expiring) => expireFromIndex(tx, expiring) },
]
