import { setImmediate as nextTurn } from 'node:timers/promises'

const SMALL_BYTES = 1024 * 1024
const STEP_BYTES = 2 * 1024 * 1024

/**
 * Joins pieces to one buffer. A large one is copied in steps, because copying 50 MB at once would
 * block the event loop for 50 ms, and is in shared memory, so that worker threads can read it.
 */
export async function joined(pieces: readonly Buffer[]): Promise<Buffer> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0)
  if (size <= SMALL_BYTES) return Buffer.concat(pieces)
  const whole = Buffer.from(new SharedArrayBuffer(size))
  let at = 0
  let copied = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += STEP_BYTES) {
      const step = piece.copy(whole, at, from, from + STEP_BYTES)
      at += step
      copied += step
      if (copied < STEP_BYTES) continue
      copied = 0
      await nextTurn()
    }
  }
  return whole
}

/** The same at once, for worker threads. */
export function joinedAtOnce(pieces: readonly Buffer[]): Buffer {
  const size = pieces.reduce((sum, { length }) => sum + length, 0)
  if (size <= SMALL_BYTES) return Buffer.concat(pieces)
  const whole = Buffer.from(new SharedArrayBuffer(size))
  let at = 0
  for (const piece of pieces) at += piece.copy(whole, at)
  return whole
}

/** Bytes for a message between threads: shared memory is passed on, other bytes are copied once. */
export const forThread = (bytes: Buffer): Uint8Array =>
  bytes.buffer instanceof SharedArrayBuffer ? bytes : new Uint8Array(bytes)

/** For the result of a task: the main thread must not copy it again. */
export function shared(bytes: Buffer): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}

/** The same memory as a Buffer: messages between threads carry a Uint8Array. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)
