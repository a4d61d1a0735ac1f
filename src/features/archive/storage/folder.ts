import { readFile, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeFolder, writeDurably } from '../../../lib/durable-file.ts'
import { ObjectRefused, type Storage, StorageAway } from './object-storage.ts'

/** Errors about a single path; others concern the whole folder. */
const OF_ONE_PATH = new Set(['EACCES', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR', 'EPERM'])

/** A folder, such as a mounted share, for hosts without object storage. */
export function folderStorage(path: string): Storage {
  const folder = resolve(path)
  const pathOf = (key: string) => join(folder, ...key.split('/'))
  const failed = (error: unknown) => {
    const { code = '', message } = error as NodeJS.ErrnoException
    const Failure = OF_ONE_PATH.has(code) ? ObjectRefused : StorageAway
    return new Failure(`archive folder: ${message}`)
  }
  return {
    async put(key, bytes) {
      try {
        await makeFolder(dirname(pathOf(key)))
        await writeDurably(pathOf(key), bytes)
      } catch (error) {
        throw failed(error)
      }
    },
    async get(key) {
      try {
        return await readFile(pathOf(key))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw failed(error)
      }
    },
    async delete(key) {
      try {
        await rm(pathOf(key), { force: true })
      } catch (error) {
        throw failed(error)
      }
    },
    locationOf: (key) => pathToFileURL(pathOf(key)).href,
    close() {},
  }
}
