import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

export const UNFINISHED = '.part'

/**
 * Writes a private file that is on disk, under its final name, when this returns. Two writers of one
 * file need different names for the unfinished ones.
 */
export async function writeDurably(
  path: string,
  content: Buffer | string,
  unfinished = `${path}${UNFINISHED}`,
): Promise<void> {
  try {
    const file = await open(unfinished, 'w', 0o600)
    try {
      await file.writeFile(content)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    throw error
  }
  await syncFolder(dirname(path))
}

/** Without it a power failure may lose the name of a new file. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates a private folder, with the names of new folders on disk. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first !== undefined) await syncFolder(dirname(first))
}
