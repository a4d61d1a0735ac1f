import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const MAX_BYTES = 4 * 1024 * 1024

/** Services that have a log in the folder, by name; nothing that a caller says becomes a path. */
export async function discover(folder: string): Promise<Map<string, string>> {
  const names = await readdir(folder).catch(() => [])
  const logs = names.filter((name) => /^[a-z_]+\.log$/.test(name)).sort()
  return new Map(logs.map((name) => [name.slice(0, -'.log'.length), join(folder, name)]))
}

export interface Tail {
  /** Oldest first. */
  lines: string[]
  /** There was more in the file than is read. */
  isCut: boolean
}

/** The end of a log; undefined when it cannot be read. */
export async function tailOf(path: string, maxBytes = MAX_BYTES): Promise<Tail | undefined> {
  const file = await open(path).catch(() => undefined)
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - maxBytes)
    const bytes = Buffer.alloc(size - from)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
    const lines = bytes.toString('utf8', 0, bytesRead).split('\n')
    // What stands before the first line break belongs to a line that was cut.
    if (from > 0) lines.shift()
    return { lines: lines.filter((line) => line !== ''), isCut: from > 0 }
  } finally {
    await file.close()
  }
}
