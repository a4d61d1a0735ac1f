import { type Room, type Wire, WireBroken } from './wire.ts'

const SLACK = 64 * 1024
const PIECE = 256 * 1024

/** An IMAP quoted string; throws for characters that it cannot contain. */
export function quoted(text: string): string {
  if (/[\0\r\n]/.test(text) || /[^\x20-\x7e]/.test(text)) throw new Error('not a quoted string')
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/** Opens a folder read-only and returns its UIDVALIDITY. */
export async function examine(wire: Wire, encodedPath: string): Promise<number> {
  let validity = 0
  await wire.command([`EXAMINE ${quoted(encodedPath)}\r\n`], undefined, ({ text }) => {
    validity = Number(/\[UIDVALIDITY (\d+)\]/i.exec(text)?.[1] ?? validity)
  })
  return validity
}

/**
 * Fetches messages of the examined folder by UID; `sizes` maps UIDs to expected sizes. The result
 * lacks messages that the server does not send, and ignores messages that were not requested.
 */
export async function fetchMessages(
  wire: Wire,
  sizes: ReadonlyMap<number, number>,
  room?: Room,
): Promise<Map<number, Buffer>> {
  const bodies = new Map<number, Buffer>()
  let total = 0
  let largest = 0
  for (const size of sizes.values()) {
    total += size
    largest = Math.max(largest, size)
  }
  // Some servers report wrong sizes, for example because they count line ends differently.
  const limits = {
    literal: largest * 2 + SLACK,
    answer: total * 2 + SLACK * (sizes.size + 1),
    ...(room && { room }),
  }
  const command = `UID FETCH ${setOf([...sizes.keys()])} (UID BODY.PEEK[])\r\n`
  await wire.command([command], limits, ({ text, literals }) => {
    const uid = uidOf(text)
    const body = literals[0] ?? shortBody(text)
    if (uid !== undefined && body && sizes.has(uid)) bodies.set(uid, body)
  })
  return bodies
}

/** Fetches a large message in pieces. All pieces share one buffer, so memory use stays constant. */
export async function* fetchPieces(wire: Wire, uid: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(PIECE)
  const room = (bytes: number) => (bytes <= PIECE ? buffer.subarray(0, bytes) : undefined)
  for (let offset = 0; ; offset += PIECE) {
    let piece: Buffer | undefined
    const command = `UID FETCH ${uid} (UID BODY.PEEK[]<${offset}.${PIECE}>)\r\n`
    const limits = { literal: PIECE, answer: PIECE + SLACK, room }
    await wire.command([command], limits, ({ text, literals }) => {
      if (uidOf(text) === uid) piece ??= literals[0] ?? shortBody(text)
    })
    if (piece === undefined) {
      if (offset === 0) return
      throw new WireBroken('the server stopped in the middle of a message')
    }
    if (piece.length > 0) yield piece
    if (piece.length < PIECE) return
  }
}

const QUOTED = /"(?:[^"\\]|\\.)*"/g

const uidOf = (text: string): number | undefined => {
  const match = /^\* \d+ FETCH \(.*?\bUID (\d{1,10})\b/i.exec(text.replace(QUOTED, '""'))
  return match ? Number(match[1]) : undefined
}

/** Servers may send a short body as a quoted string. */
function shortBody(text: string): Buffer | undefined {
  const match = /\bBODY\[\](?:<\d+>)? ("(?:[^"\\]|\\.)*"|NIL)/i.exec(text)?.[1]
  if (match === undefined) return undefined
  if (!match.startsWith('"')) return Buffer.alloc(0)
  return Buffer.from(match.slice(1, -1).replace(/\\(.)/g, '$1'), 'latin1')
}

/** Formats UIDs as a sequence set such as `1:3,7`. */
export function setOf(uids: readonly number[]): string {
  const sorted = [...uids].sort((a, b) => a - b)
  const ranges: string[] = []
  let start = sorted[0] ?? 0
  sorted.forEach((uid, index) => {
    const next = sorted[index + 1]
    if (next === uid + 1) return
    ranges.push(start === uid ? `${uid}` : `${start}:${uid}`)
    start = next ?? 0
  })
  return ranges.join(',')
}

/** Expands a sequence set in its order, up to `limit` numbers. */
export function numbersOf(set: string, limit: number): number[] {
  const numbers: number[] = []
  for (const range of set.split(',')) {
    const [from = 0, to = from] = range.split(':').map(Number)
    const step = to < from ? -1 : 1
    for (let number = from; numbers.length < limit; number += step) {
      numbers.push(number)
      if (number === to) break
    }
  }
  return numbers
}
