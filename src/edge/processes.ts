import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The process that a pid file names, as long as it works in that folder: the number in a stale file
 * may by now belong to an unrelated process.
 */
export function runningFrom(pidFile: string, folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').trim().split(/\s+/)[0])
    return Number.isInteger(pid) && pid > 1 && worksIn(pid, realpathSync(folder)) ? pid : undefined
  } catch {
    return undefined
  }
}

/** Every process whose working folder is this one or lies in it; a zombie has none. */
export const workersIn = (folder: string): number[] => {
  const real = realpathSync(folder)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && worksIn(pid, real))
}

function worksIn(pid: number, real: string): boolean {
  try {
    const place = readlinkSync(`/proc/${pid}/cwd`)
    return place === real || place.startsWith(`${real}/`)
  } catch {
    return false
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended in the meantime.
  }
}

/** Whether it came true in time. */
export async function within(
  ms: number,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  for (const end = Date.now() + ms; !(await condition()); await sleep(10)) {
    if (Date.now() > end) return false
  }
  return true
}
