import { setImmediate as nextTurn } from 'node:timers/promises'

/** Returns a function for long loops: it lets other work run after every few milliseconds. */
export function breather(afterMs = 5) {
  let last = performance.now()
  return async (): Promise<void> => {
    if (performance.now() - last < afterMs) return
    await nextTurn()
    last = performance.now()
  }
}
