import type { ServerResponse } from 'node:http'

/**
 * Ends an answer whose reader takes nothing for a time. An answer of which nothing waits to be sent is
 * still being made, and goes on.
 */
export function endStalledReader(raw: ServerResponse, stallMs: number): void {
  raw.setTimeout(stallMs, () => {
    if (raw.writableLength > 0) raw.destroy()
    else raw.setTimeout(stallMs)
  })
}
