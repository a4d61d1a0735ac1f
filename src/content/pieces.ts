const BLOCK_BYTES = 64 * 1024
const SMALL_BYTES = 4096

/**
 * Collects the bytes of a message as they arrive. Small pieces are copied into blocks: smtp-server
 * emits a piece for each line that begins with a dot, and a million pieces take long to join.
 */
export function collectPieces() {
  let pieces: Buffer[] = []
  let block = Buffer.alloc(0)
  let used = 0
  let size = 0
  const flush = () => {
    if (used > 0) pieces.push(block.subarray(0, used))
    block = block.subarray(used)
    used = 0
  }

  return {
    get size() {
      return size
    },
    add(piece: Buffer) {
      size += piece.length
      if (piece.length >= SMALL_BYTES) {
        flush()
        pieces.push(piece)
        return
      }
      if (used + piece.length > block.length) {
        flush()
        block = Buffer.allocUnsafe(BLOCK_BYTES)
      }
      used += piece.copy(block, used)
    },
    /** Returns the pieces in order and forgets them. */
    take(): Buffer[] {
      flush()
      const all = pieces
      pieces = []
      size = 0
      return all
    },
  }
}
