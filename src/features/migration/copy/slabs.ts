import type { Room } from '../../../mail/imap/wire.ts'

const SLAB_BYTES = 640 * 1024

export type Slabs = ReturnType<typeof slabs>

/**
 * Reusable buffers for messages. Without reuse memory grows: the garbage collector runs by the number of
 * objects on the heap and ignores the size of their external buffers.
 */
export function slabs() {
  const spare: Buffer[] = []
  return {
    /** Takes a buffer for one chunk; `release` returns it for reuse. */
    take(): { room: Room; release: () => void } {
      const slab = spare.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES)
      let used = 0
      return {
        room(bytes) {
          if (used + bytes > SLAB_BYTES) return undefined
          used += bytes
          return slab.subarray(used - bytes, used)
        },
        release: () => void spare.push(slab),
      }
    },
  }
}
