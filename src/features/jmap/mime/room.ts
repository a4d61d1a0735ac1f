import { jsonSize } from '../../../lib/json-pieces.ts'

/** More values take long to pass between threads. A header can have thousands of fields. */
const MAX_VALUES = 50_000

/** The properties that a client wants of a message do not fit in the answer. */
export class NoRoom extends Error {}

/** Counts what is shown of a message: its sender decides about the size, and parts can be shown twice. */
export function roomOf(bytes: number) {
  const left = { bytes, values: MAX_VALUES }
  return {
    take<Value>(value: Value): Value {
      const size = jsonSize(value, left)
      if (!size) throw new NoRoom('there is no room')
      left.bytes -= size.bytes
      left.values -= size.values
      return value
    },
    used: () => bytes - left.bytes,
  }
}

export type Room = ReturnType<typeof roomOf>
