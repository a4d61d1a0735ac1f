import type { Core } from '../../../core.ts'
import { ageOpen, NoIdentityFits } from '../../../lib/age.ts'
import { TimedOut, within } from '../../../lib/timeout.ts'
import { StartupError } from '../../../startup-error.ts'
import { StorageAway } from '../storage/object-storage.ts'
import type { Storages } from '../storage/storage.ts'
import { oldestAndNewest, type Stored } from '../store/archive.repository.ts'
import { archiveKeys } from './keys.ts'

/** A storage that does not answer must not keep the service from starting. */
const PATIENCE_MS = 5000

/**
 * Opens the oldest and the newest object with the identities of the platform, before the loss of an
 * identity shows when a message is needed. Damage is left to the weekly check.
 */
export async function tryKeys(core: Core, storages: Storages): Promise<void> {
  if (storages.current === undefined) return
  const keys = archiveKeys(core)
  await keys.verify()
  const identities = await keys.platformIdentities()

  async function tryObject({ storage_type, storage_key }: Stored): Promise<void> {
    if (storage_type === 'spool') return
    const sealed = await within(PATIENCE_MS, storages.of(storage_type).get(storage_key))
    if (sealed) await ageOpen(identities, sealed)
  }

  async function tryRow(row: Stored): Promise<void> {
    const { storage_key } = row
    try {
      await tryObject(row)
    } catch (error) {
      if (error instanceof StorageAway || error instanceof TimedOut) {
        core.log.warn(
          { err: error, storage_key },
          'identities of the archive not tried at the start',
        )
      } else if (!(error instanceof NoIdentityFits)) {
        core.log.error({ err: error, storage_key, alert: true }, 'archived message damaged')
      } else if (core.config.ARCHIVE_IDENTITY_LOST) {
        core.log.error({ storage_key, alert: true }, 'no identity of the platform opens the object')
      } else throw new StartupError(refusal(core, storage_key))
    }
  }

  await Promise.all((await oldestAndNewest(core.db)).map(tryRow))
}

const refusal = ({ config }: Core, key: string): string => {
  const isFile = config.ARCHIVE_AGE_IDENTITY_FILE !== undefined
  const place = isFile ? 'ARCHIVE_AGE_IDENTITY_FILE' : 'the database'
  return `no identity in ${place} opens ${key} of the archive; add the earlier one, or set ARCHIVE_IDENTITY_LOST=true`
}
