import type { Room } from '../../../mail/imap/wire.ts'

const SLAB_BYTES = 640 * 1024

export type Slabs = ReturnType<typeof slabs>

/**
 * Memory for messages on their way, used again and again. Messages are nothing but bytes to pass on:
 * thrown away one by one they would pile up, since the collector sees how few objects there are, not
 * how large.
 */
export function slabs() {
  const spare: Buffer[] = []
  return {
    /** For one portion; given back when nobody looks at it any more, and forgotten otherwise. */
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
