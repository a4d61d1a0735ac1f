// Loaded into a server with `node --import`: records how long its event loop is blocked.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const TICK_MS = 5
const RECORDED_MS = 25

/**
 * The CPU time of the main thread between two ticks is at most a tick and the longest turn of the
 * loop. CPU time is measured instead of wall-clock time, because on a busy machine the operating
 * system suspends a process for longer than the bound, whatever the process does.
 */
if (isMainThread && process.env.LOOP_PROBE_FILE) {
  let before = process.threadCpuUsage()
  setInterval(() => {
    const now = process.threadCpuUsage()
    const ms = (now.user - before.user + now.system - before.system) / 1000 - TICK_MS
    if (ms > RECORDED_MS) {
      appendFileSync(process.env.LOOP_PROBE_FILE, `${JSON.stringify({ at: Date.now(), ms })}\n`)
    }
    before = process.threadCpuUsage()
  }, TICK_MS).unref()
}
