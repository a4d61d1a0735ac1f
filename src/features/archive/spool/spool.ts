import { link, readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Config } from '../../../config/index.ts'
import { makeFolder, UNFINISHED, writeDurably } from '../../../lib/durable-file.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'

const ID_FILE = 'spool-id'
/** A younger file may belong to a message whose row is not committed yet. */
const ABANDONED_MS = HOUR_MS

export type Spool = ReturnType<typeof openSpool>

/** The folder on this machine where sealed messages wait for their upload. */
export function openSpool({
  ARCHIVE_SPOOL_PATH,
  DATA_DIR,
}: Pick<Config, 'ARCHIVE_SPOOL_PATH' | 'DATA_DIR'>) {
  const folder = ARCHIVE_SPOOL_PATH ?? join(DATA_DIR, 'archive-spool')
  const pathOf = (key: string) => join(folder, basename(key))
  let id: Promise<string> | undefined

  return {
    /** Rows name the folder by this id; processes that share the folder share the id. */
    id(): Promise<string> {
      id ??= folderId(folder).catch((error) => {
        id = undefined
        throw error
      })
      return id
    },

    write: (key: string, sealed: Buffer) => writeDurably(pathOf(key), sealed),

    /** Undefined when the file is not there. */
    async read(key: string): Promise<Buffer | undefined> {
      try {
        return await readFile(pathOf(key))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },

    remove: (key: string) => rm(pathOf(key), { force: true }),

    /** Removes files that no row waits for; `waiting` returns those of the given names that do. */
    async sweep(waiting: (names: string[]) => Promise<Set<string>>, now: Date): Promise<number> {
      await makeFolder(folder)
      const old: string[] = []
      for (const name of await readdir(folder)) {
        if (name === ID_FILE) continue
        const found = await stat(join(folder, name)).catch(() => undefined)
        if (found && now.getTime() - found.mtimeMs > ABANDONED_MS) old.push(name)
      }
      let removed = 0
      for (let at = 0; at < old.length; at += 500) {
        const names = old.slice(at, at + 500)
        const kept = await waiting(names.filter((name) => !name.endsWith(UNFINISHED)))
        for (const name of names) {
          if (kept.has(name)) continue
          await rm(join(folder, name), { force: true })
          removed++
        }
      }
      return removed
    },
  }
}

/** Of several processes that start at once, one creates the id. */
async function folderId(folder: string): Promise<string> {
  await makeFolder(folder)
  const path = join(folder, ID_FILE)
  const read = () =>
    readFile(path, 'utf8').then(
      (text) => text.trim(),
      () => '',
    )
  const found = await read()
  if (found !== '') return found
  const id = ulid()
  const own = `${path}.${id}`
  await writeDurably(own, Buffer.from(`${id}\n`))
  try {
    await link(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(own, { force: true })
  }
  return read()
}
