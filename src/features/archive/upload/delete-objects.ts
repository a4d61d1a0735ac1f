import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { openSpool } from '../spool/spool.ts'
import { ObjectRefused, StorageAway, type StorageType } from '../storage/object-storage.ts'
import type { Storages } from '../storage/storage.ts'
import * as deletions from '../store/deletions.repository.ts'

const BATCH_SIZE = 100

/**
 * Deletes the objects whose rows are gone; a failed deletion is retried until it succeeds. Storages do not
 * wait for each other, nor objects for one that cannot be deleted. Rows of a storage that is not
 * configured wait until it is.
 */
export function deleteObjects(core: Core, storages: Storages): Chore {
  const { db, log, now } = core
  const spool = openSpool(core.config)

  /** False when the storage takes no deletion of this object now. */
  async function deleteObject(
    type: StorageType,
    { storage_type, storage_key }: deletions.Deletion,
  ) {
    try {
      // A message that waited in the spool may have been uploaded in the meantime.
      if (storage_type === 'spool') await spool.remove(storage_key)
      await storages.of(type).delete(storage_key)
      return true
    } catch (error) {
      if (error instanceof StorageAway && !(error instanceof ObjectRefused)) throw error
      log.warn({ err: error, storage_key }, 'deletion of an archived object failed, will retry')
      return false
    }
  }

  /** True when there may be more. */
  async function deleteDue(type: StorageType): Promise<boolean> {
    const types = type === storages.current ? (['spool', type] as const) : [type]
    const due = await deletions.due(db, types, await spool.id(), now(), BATCH_SIZE)
    for (const row of due) {
      if (await deleteObject(type, row)) await deletions.remove(db, row.id)
      else await deletions.retryLater(db, row.id, now())
    }
    return due.length === BATCH_SIZE
  }

  return {
    name: 'archive-deletions',
    async round() {
      const rounds = await Promise.allSettled(storages.all.map(deleteDue))
      const failed = rounds.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
      return rounds.some((one) => one.status === 'fulfilled' && one.value)
    },
  }
}
