import { stat } from 'node:fs/promises'
import { HEAD_BYTES, type LogSource, olderParts, openSource } from './log-source.ts'

/** How far a log was read: in which file, told by its first bytes, and to which byte of it. */
export interface Position {
  head: Buffer
  inode: string
  offset: number
  /** When that was. */
  at: Date
}

/** Bytes that begin and end with a line, and how far the log is read once they are. */
export interface Portion {
  bytes: Buffer
  /** The first of a file. */
  isStart: boolean
  after: Omit<Position, 'at'>
}

const NEWLINE = 10

/**
 * Follows a log by its name. A file that was moved away is read to its end first, also when that
 * happened while nobody was reading, also when it was compressed meanwhile.
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

  /** The file that was being read, wherever it is now. */
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

  /** The oldest part that is not older than that and not read yet, or the log itself. */
  async function openAfter(mtimeNs: bigint): Promise<LogSource | undefined> {
    for (const part of await olderParts(path)) {
      const candidate = part.mtimeNs >= mtimeNs ? await opened(part.path) : undefined
      // What was just read may be there again, compressed.
      const isRead = !candidate || finished.has(candidate.inode) || (await isSame(candidate))
      if (candidate && !isRead) return candidate
      await candidate?.close()
    }
    // From here on the numbers of files that are deleted may be used again.
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

  /** Reads whole lines; with `toTheEnd` also a last one that was never finished. */
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
      // One line that is longer than a portion.
      length *= 2
    }
  }

  /** Somebody has emptied the file, or written another into its place. */
  async function isCut(from: LogSource): Promise<boolean> {
    if (from.isCompressed) return false
    return (await from.stat()).size < position.offset || !(await isSame(from))
  }

  /** The file that is being read was moved away, and whatever wrote to it writes elsewhere now. */
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
      // Once something is written elsewhere, nothing more is written here: this is the rest.
      const rest = (await readLines(source)) ?? (await readLines(source, true))
      if (rest) return rest
      await finish(source)
    }
  }

  return {
    /** The next lines, or undefined when there are none now. */
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
