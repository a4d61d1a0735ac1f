import type { Core } from '../../../core.ts'
import { folderStorage } from './folder.ts'
import { type Storage, StorageAway, type StorageType } from './object-storage.ts'
import { s3Storage } from './s3.ts'

export interface Storages {
  /** The storage of new objects; undefined when mail is not archived. */
  current: StorageType | undefined
  /** The configured storages. */
  all: readonly StorageType[]
  /** Throws `StorageAway` for a storage that is not configured any more. */
  of(type: StorageType): Storage
  close(): void
}

export function openStorages({ config, outbound, now }: Pick<Core, 'config' | 'outbound' | 'now'>) {
  const opened: Partial<Record<StorageType, Storage>> = {
    ...(config.S3_BUCKET !== undefined && { s3: s3Storage(config, outbound, now) }),
    ...(config.ARCHIVE_FOLDER !== undefined && { local: folderStorage(config.ARCHIVE_FOLDER) }),
  }
  const storages: Storages = {
    current: opened.s3 ? 's3' : opened.local ? 'local' : undefined,
    all: Object.keys(opened) as StorageType[],
    of(type) {
      const storage = opened[type]
      if (!storage) throw new StorageAway(`the storage ${type} of the archive is not configured`)
      return storage
    },
    close() {
      for (const storage of Object.values(opened)) storage.close()
    },
  }
  return storages
}
