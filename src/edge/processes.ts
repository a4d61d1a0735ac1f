import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The process of a pid file, if its working directory is in the folder: the number in a stale file
 * may belong to an unrelated process.
 */
export function runningFrom(pidFile: string, folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').trim().split(/\s+/)[0])
    return Number.isInteger(pid) && pid > 1 && worksIn(pid, realpathSync(folder)) ? pid : undefined
  } catch {
    return undefined
  }
}

/** All processes with a working directory in the folder; a zombie has none. */
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

/** Polls the condition; returns false when it is still false after `ms`. */
export async function within(
  ms: number,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  for (const end = Date.now() + ms; !(await condition()); await sleep(10)) {
    if (Date.now() > end) return false
  }
  return true
}
