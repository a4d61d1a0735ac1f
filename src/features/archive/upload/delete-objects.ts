import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { openSpool } from '../spool/spool.ts'
import type { Storages } from '../storage/storage.ts'
import * as deletions from '../store/deletions.repository.ts'

const BATCH_SIZE = 100

/** Deletes the objects whose rows are gone; a failed deletion is retried until it succeeds. */
export function deleteObjects(core: Core, storages: Storages): Chore {
  const spool = openSpool(core.config)
  return {
    name: 'archive-deletions',
    async round({ db, now }) {
      if (storages.current === undefined) return false
      const due = await deletions.due(db, await spool.id(), now(), BATCH_SIZE)
      for (const { id, storage_type, storage_key } of due) {
        // A message that waited in the spool may have been uploaded in the meantime.
        if (storage_type === 'spool') await spool.remove(storage_key)
        const type = storage_type === 'spool' ? storages.current : storage_type
        if (type !== undefined) await storages.of(type).delete(storage_key)
        await deletions.remove(db, id)
      }
      return due.length === BATCH_SIZE
    },
  }
}
