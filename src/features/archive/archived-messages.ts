import type { Core } from '../../core.ts'
import { Damaged } from './sealing/sealed-message.ts'
import { openStorages } from './storage/storage.ts'
import { storedById } from './store/archive.repository.ts'
import { Gone, readArchive } from './store/read-archive.ts'

/** Archived messages of any organization, for the export of a person; undefined for a damaged one. */
export async function* archivedMessages(
  needs: Pick<Core, 'config' | 'db' | 'now' | 'outbound' | 'vault'>,
  ids: readonly string[],
): AsyncGenerator<{ id: string; message: Buffer | undefined }> {
  const storages = openStorages(needs)
  const reader = readArchive(needs, storages)
  try {
    for (const id of ids) {
      const row = await storedById(needs.db, id)
      if (!row) continue
      try {
        yield { id, message: await reader.read(row) }
      } catch (error) {
        if (error instanceof Gone) continue
        if (!(error instanceof Damaged)) throw error
        yield { id, message: undefined }
      }
    }
  } finally {
    storages.close()
  }
}
