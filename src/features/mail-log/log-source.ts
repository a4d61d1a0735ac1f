import { createReadStream } from 'node:fs'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createGunzip } from 'node:zlib'

/** The first bytes identify a log file: they contain times and process ids. */
export const HEAD_BYTES = 256

/** The growing log file, or a rotated part of it, which may be compressed. */
export interface LogSource {
  readonly path: string
  readonly inode: string
  readonly isCompressed: boolean
  /** Up to `HEAD_BYTES` bytes from the start. */
  head(): Promise<Buffer>
  /** Reads up to `length` bytes; none at the end. A compressed file can only be read forward. */
  read(offset: number, length: number): Promise<Buffer>
  stat(): Promise<{ size: number; mtimeNs: bigint }>
  close(): Promise<void>
}

export async function openSource(path: string): Promise<LogSource> {
  const file = await open(path, 'r')
  try {
    const { dev, ino } = await file.stat({ bigint: true })
    const inode = `${dev}:${ino}`
    return path.endsWith('.gz') ? compressed(path, inode, file) : plain(path, inode, file)
  } catch (error) {
    await file.close()
    throw error
  }
}

const sizeAndTime = async (file: FileHandle) => {
  const { size, mtimeNs } = await file.stat({ bigint: true })
  return { size: Number(size), mtimeNs }
}

function plain(path: string, inode: string, file: FileHandle): LogSource {
  const read = async (offset: number, length: number) => {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  }
  return {
    path,
    inode,
    isCompressed: false,
    head: () => read(0, HEAD_BYTES),
    read,
    stat: () => sizeAndTime(file),
    close: () => file.close(),
  }
}

function compressed(path: string, inode: string, file: FileHandle): LogSource {
  let pieces: AsyncIterator<Buffer> | undefined
  let position = 0
  let waiting: Buffer = Buffer.alloc(0)
  const more = async () => {
    pieces ??= createReadStream(path).pipe(createGunzip())[Symbol.asyncIterator]()
    const { value, done } = await pieces.next()
    if (done) return false
    waiting = waiting.length === 0 ? value : Buffer.concat([waiting, value])
    return true
  }
  return {
    path,
    inode,
    isCompressed: true,
    async head() {
      while (position === 0 && waiting.length < HEAD_BYTES && (await more()));
      return waiting.subarray(0, HEAD_BYTES)
    },
    async read(offset, length) {
      for (;;) {
        const skipped = Math.min(offset - position, waiting.length)
        position += skipped
        waiting = waiting.subarray(skipped)
        if (position === offset && waiting.length >= length) break
        if (!(await more())) break
      }
      return waiting.subarray(0, length)
    },
    stat: () => sizeAndTime(file),
    async close() {
      await pieces?.return?.()
      await file.close()
    },
  }
}

/** The rotated parts of a log, such as `mail.log.1` or `mail.log-20261115.gz`, oldest first. */
export async function olderParts(path: string): Promise<{ path: string; mtimeNs: bigint }[]> {
  const folder = dirname(path)
  const name = basename(path)
  const names = await readdir(folder).catch(() => [])
  const parts = names.filter(
    (one) =>
      one.length > name.length && one.startsWith(name) && /^[.-]/.test(one.slice(name.length)),
  )
  const files = await Promise.all(
    parts.map(async (part) => {
      const about = await stat(join(folder, part), { bigint: true }).catch(() => undefined)
      return about?.isFile() ? [{ path: join(folder, part), mtimeNs: about.mtimeNs }] : []
    }),
  )
  return files.flat().sort((a, b) => (a.mtimeNs < b.mtimeNs ? -1 : 1))
}
