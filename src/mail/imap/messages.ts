import { type Room, type Wire, WireBroken } from './wire.ts'

const SLACK = 64 * 1024
const PIECE = 256 * 1024

/** A string of the protocol: quoted, or refused where it cannot be. */
export function quoted(text: string): string {
  if (/[\0\r\n]/.test(text) || /[^\x20-\x7e]/.test(text)) throw new Error('not a quoted string')
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/** For reading only; the UIDVALIDITY it has. */
export async function examine(wire: Wire, encodedPath: string): Promise<number> {
  let validity = 0
  await wire.command([`EXAMINE ${quoted(encodedPath)}\r\n`], undefined, ({ text }) => {
    validity = Number(/\[UIDVALIDITY (\d+)\]/i.exec(text)?.[1] ?? validity)
  })
  return validity
}

/**
 * Messages of the examined folder, by UID. Those that the server does not send are not in the answer;
 * what was not asked for is not believed.
 */
export async function fetchMessages(
  wire: Wire,
  wanted: ReadonlyMap<number, number>,
  room?: Room,
): Promise<Map<number, Buffer>> {
  const found = new Map<number, Buffer>()
  let total = 0
  let largest = 0
  for (const size of wanted.values()) {
    total += size
    largest = Math.max(largest, size)
  }
  // Sizes that a server tells are not always those it sends; some count line ends differently.
  const limits = {
    literal: largest * 2 + SLACK,
    answer: total * 2 + SLACK * (wanted.size + 1),
    ...(room && { room }),
  }
  const command = `UID FETCH ${setOf([...wanted.keys()])} (UID BODY.PEEK[])\r\n`
  await wire.command([command], limits, ({ text, literals }) => {
    const uid = uidOf(text)
    const body = literals[0] ?? shortBody(text)
    if (uid !== undefined && body && wanted.has(uid)) found.set(uid, body)
  })
  return found
}

/** The same for a large message, piece by piece, each in the place of the one before: nobody holds it whole. */
export async function* fetchPieces(wire: Wire, uid: number): AsyncGenerator<Buffer> {
  const place = Buffer.allocUnsafeSlow(PIECE)
  const room = (bytes: number) => (bytes <= PIECE ? place.subarray(0, bytes) : undefined)
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

/** A short body may come as a string in quotes. */
function shortBody(text: string): Buffer | undefined {
  const match = /\bBODY\[\](?:<\d+>)? ("(?:[^"\\]|\\.)*"|NIL)/i.exec(text)?.[1]
  if (match === undefined) return undefined
  if (!match.startsWith('"')) return Buffer.alloc(0)
  return Buffer.from(match.slice(1, -1).replace(/\\(.)/g, '$1'), 'latin1')
}

/** `1:3,7`, from numbers in any order. */
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

/** The numbers of a set in its order; no more than `limit` of them. */
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
