import type { Core } from '../../../core.ts'
import { archiveKeys } from '../sealing/keys.ts'
import { Damaged, openMessage } from '../sealing/sealed-message.ts'
import { openSpool } from '../spool/spool.ts'
import { StorageAway } from '../storage/object-storage.ts'
import type { Storages } from '../storage/storage.ts'
import { findStored, type Stored } from './archive.repository.ts'

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'vault'>

/** The row was deleted while its object was read. */
export class Gone extends Error {}

export type ReadArchive = ReturnType<typeof readArchive>

/** Reads archived messages, from storage or from the spool of this machine, and verifies them. */
export function readArchive(core: Needs, storages: Storages) {
  const keys = archiveKeys(core)
  const spool = openSpool(core.config)

  async function sealedOf(row: Stored): Promise<Buffer> {
    if (row.storage_type !== 'spool') {
      const object = await storages.of(row.storage_type).get(row.storage_key)
      if (object) return object
      throw new Damaged('the object is not in storage')
    }
    const file = await spool.read(row.storage_key)
    if (file) return file
    if (row.spool_id === (await spool.id())) throw new Damaged('the file is not in the spool')
    throw new StorageAway('the message waits on another machine for its upload')
  }

  /** Throws `Damaged` unless the bytes are those that were archived. */
  async function read(row: Stored): Promise<Buffer> {
    try {
      const sealed = await sealedOf(row)
      return await openMessage(await keys.identitiesFor(row.organization_id), sealed, row)
    } catch (error) {
      if (!(error instanceof Damaged)) throw error
      // Uploading, sealing anew and deleting move the object of a row that was read before.
      const now = await findStored(core.db, row.organization_id, row.id)
      if (!now) throw new Gone()
      if (now.storage_key === row.storage_key && now.storage_type === row.storage_type) throw error
      return read(now)
    }
  }

  return { read, sealedOf }
}
