const MAX_LINE_BYTES = 64 * 1024

/** Buffers unread bytes. It doubles in size, so that input in single bytes stays linear. */
export function inbox() {
  let bytes = Buffer.alloc(4096)
  let start = 0
  let end = 0
  // The search for the next line end continues here, so that no byte is searched twice.
  let searched = 0

  const take = (length: number): Buffer => {
    const taken = Buffer.from(bytes.subarray(start, start + length))
    start += length
    searched = start
    if (start === end) start = end = searched = 0
    return taken
  }

  return {
    add(chunk: Buffer): void {
      if (end + chunk.length > bytes.length) {
        const unread = bytes.subarray(start, end)
        const grown = Buffer.alloc(Math.max(bytes.length * 2, unread.length + chunk.length))
        unread.copy(grown)
        searched -= start
        end -= start
        start = 0
        bytes = grown
      }
      chunk.copy(bytes, end)
      end += chunk.length
    },
    get size() {
      return end - start
    },
    /** The next line without its line break; undefined while it is incomplete. */
    line(): string | undefined {
      const at = bytes.subarray(0, end).indexOf('\r\n', searched)
      if (at === -1) {
        if (end - start > MAX_LINE_BYTES) throw new Error('the server sends a line without end')
        searched = Math.max(start, end - 1)
        return undefined
      }
      const line = take(at - start).toString('utf8')
      take(2)
      return line
    },
    bytes: (length: number): Buffer | undefined =>
      end - start < length ? undefined : take(length),
  }
}
