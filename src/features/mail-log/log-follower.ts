import { stat } from 'node:fs/promises'
import { HEAD_BYTES, type LogSource, olderParts, openSource } from './log-source.ts'

/** The read position in a log: the file, identified by its first bytes, and the offset in it. */
export interface Position {
  head: Buffer
  inode: string
  offset: number
  /** The time of the last read. */
  at: Date
}

/** Whole lines, and the position after them. */
export interface Portion {
  bytes: Buffer
  /** True for the first portion of a file. */
  isStart: boolean
  after: Omit<Position, 'at'>
}

const NEWLINE = 10

/**
 * Follows a log by its path across rotation. A rotated file is read to its end first, even if it was
 * rotated or compressed while no process was reading.
 */
export function followLog(path: string, from: Position, portionBytes: number) {
  let position = from
  let source: LogSource | undefined
  let wasIdle = false
  const finished = new Set<string>()

  const isSame = async (candidate: LogSource) => {
    if (position.head.length === 0) return candidate.inode === position.inode
    const head = await candidate.head()
    return head.subarray(0, position.head.length).equals(position.head)
  }

  const opened = async (part: string) => openSource(part).catch(() => undefined)

  const startOf = async (next: LogSource | undefined) => {
    source = next
    if (next) position = { ...position, head: await next.head(), inode: next.inode, offset: 0 }
  }

  /** Finds the file that was being read, which may have been renamed or compressed. */
  async function findAgain(): Promise<LogSource | undefined> {
    const parts = (await olderParts(path)).reverse()
    for (const part of [{ path }, ...parts]) {
      const candidate = await opened(part.path)
      if (!candidate) continue
      const isLongEnough =
        candidate.isCompressed || (await candidate.stat()).size >= position.offset
      if (isLongEnough && (await isSame(candidate).catch(() => false))) return candidate
      await candidate.close()
    }
    return undefined
  }

  /** Opens the oldest unread part that is not older than `mtimeNs`, or the log itself. */
  async function openAfter(mtimeNs: bigint): Promise<LogSource | undefined> {
    for (const part of await olderParts(path)) {
      const candidate = part.mtimeNs >= mtimeNs ? await opened(part.path) : undefined
      // The file that was just read may exist again, compressed.
      const isRead = !candidate || finished.has(candidate.inode) || (await isSame(candidate))
      if (candidate && !isRead) return candidate
      await candidate?.close()
    }
    // The file system may reuse the inode numbers of deleted files.
    finished.clear()
    return opened(path)
  }

  async function resume() {
    const isNew = position.head.length === 0 && position.inode === ''
    const again = isNew ? undefined : await findAgain()
    if (again) source = again
    else if (isNew) await startOf(await opened(path))
    else await startOf(await openAfter(BigInt(position.at.getTime()) * 1_000_000n))
  }

  /** Reads whole lines; with `toTheEnd` also an unfinished last line. */
  async function readLines(from: LogSource, toTheEnd = false): Promise<Portion | undefined> {
    let length = portionBytes
    for (;;) {
      const bytes = await from.read(position.offset, length)
      const isAll = bytes.length < length
      const end = toTheEnd && isAll ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1
      if (end > 0) {
        const isStart = position.offset === 0
        const offset = position.offset + end
        const head =
          position.head.length < HEAD_BYTES && !from.isCompressed
            ? await from.head()
            : position.head
        position = { ...position, head, inode: from.inode, offset }
        return {
          bytes: bytes.subarray(0, end),
          isStart,
          after: { head, inode: from.inode, offset },
        }
      }
      if (isAll) return undefined
      // A single line is longer than the portion.
      length *= 2
    }
  }

  /** Returns whether the file was truncated or overwritten. */
  async function isCut(from: LogSource): Promise<boolean> {
    if (from.isCompressed) return false
    return (await from.stat()).size < position.offset || !(await isSame(from))
  }

  /** Returns whether the file was rotated and the mail server now writes to another one. */
  async function isOver(from: LogSource): Promise<boolean> {
    const live = await stat(path, { bigint: true }).catch(() => undefined)
    if (live && `${live.dev}:${live.ino}` === from.inode) return false
    return from.isCompressed || (live !== undefined && live.size > 0n)
  }

  async function finish(from: LogSource): Promise<void> {
    const { mtimeNs } = await from.stat()
    finished.add(from.inode)
    await from.close()
    source = undefined
    await startOf(await openAfter(mtimeNs))
  }

  async function reopen(from: LogSource): Promise<void> {
    await from.close()
    source = await findAgain()
    if (!source) await startOf(await opened(path))
  }

  async function next(): Promise<Portion | undefined> {
    if (source && wasIdle && (await isCut(source))) await reopen(source)
    for (;;) {
      if (!source) await resume()
      if (!source) return undefined
      const lines = await readLines(source)
      if (lines) return lines
      if (!(await isOver(source))) return undefined
      // The mail server writes to another file now, so this is the rest of this one.
      const rest = (await readLines(source)) ?? (await readLines(source, true))
      if (rest) return rest
      await finish(source)
    }
  }

  return {
    /** The next lines; undefined if there are none yet. */
    async next(): Promise<Portion | undefined> {
      const portion = await next()
      wasIdle = portion === undefined
      return portion
    },

    async close() {
      await source?.close()
      source = undefined
    },
  }
}
