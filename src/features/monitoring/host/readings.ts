import { statfs } from 'node:fs/promises'
import { cpus, freemem, loadavg, totalmem } from 'node:os'

export interface Readings {
  /** null before there are two readings to compare. */
  cpu_percent: number | null
  memory_percent: number
  memory_bytes: number
  disk_percent: number
  load_average: number[]
}

/**
 * The resource usage of this host; the disk is that of the data folder. CPU is an average over at least
 * this time, so that a short peak does not count.
 */
export function hostReader(dataDir: string, leastMs = 100) {
  let before = cpuTimes()
  let readAt = performance.now()
  let cpu: number | null = null
  return async (): Promise<Readings> => {
    const now = cpuTimes()
    const total = now.total - before.total
    if (total > 0 && performance.now() - readAt >= leastMs) {
      cpu = 100 * (1 - (now.idle - before.idle) / total)
      before = now
      readAt = performance.now()
    }
    const { blocks, bfree, bavail } = await statfs(dataDir)
    const used = blocks - bfree
    const memory = totalmem() - freemem()
    return {
      cpu_percent: cpu === null ? null : tenths(cpu),
      memory_percent: tenths((100 * memory) / totalmem()),
      memory_bytes: memory,
      // Like df: blocks reserved for root do not count as free.
      disk_percent: tenths((100 * used) / Math.max(1, used + bavail)),
      load_average: loadavg().map((load) => Math.round(load * 100) / 100),
    }
  }
}

const tenths = (percent: number): number => Math.round(percent * 10) / 10

function cpuTimes() {
  let idle = 0
  let total = 0
  for (const { times } of cpus()) {
    idle += times.idle
    total += times.user + times.nice + times.sys + times.idle + times.irq
  }
  return { idle, total }
}
