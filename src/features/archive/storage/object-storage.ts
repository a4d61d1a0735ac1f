export type StorageType = 's3' | 'local'

/** A place for sealed objects. Every call throws `StorageAway` when the storage does not answer. */
export interface Storage {
  put(key: string, bytes: Buffer): Promise<void>
  /** Undefined when there is no such object. */
  get(key: string): Promise<Buffer | undefined>
  /** Succeeds for an object that does not exist. */
  delete(key: string): Promise<void>
  /** The URL of an object, for events. */
  locationOf(key: string): string
  close(): void
}

/** The storage is unreachable or refused a request; it is tried again later. */
export class StorageAway extends Error {}

/** The storage works and refused a request for one object; others may succeed. */
export class ObjectRefused extends StorageAway {}
