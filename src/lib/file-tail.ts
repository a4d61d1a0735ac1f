import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

export interface FileTail {
  bytes: Buffer
  /** True if the file has more than was read. */
  isCut: boolean
}

// A reader with more rights than the owner of the folder must not follow a link or wait for a pipe.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Reads the last bytes of a regular file. */
export async function fileTail(path: string, maxBytes: number): Promise<FileTail> {
  const file = await open(path, FLAGS)
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.nlink > 1) throw new Error(`${path} is no file of its own`)
    const from = Math.max(0, stats.size - maxBytes)
    const bytes = Buffer.alloc(stats.size - from)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
    return { bytes: bytes.subarray(0, bytesRead), isCut: from > 0 }
  } finally {
    await file.close()
  }
}
