import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const TICK_MS = 10

/** CPU time of a process so far, and of all processes that work in a folder, such as PostgreSQL. */
export function cpuMs(pid: number, folder?: string): number {
  const others = folder === undefined ? [] : workingIn(folder).filter((other) => other !== pid)
  return [pid, ...others].reduce((sum, one) => sum + ofProcess(one), 0)
}

const workingIn = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
      } catch {
        return false
      }
    })

function ofProcess(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may have spaces, and is in parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return 0
  }
}
