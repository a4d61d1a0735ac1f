import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

// The server is started inside its folder and refers to it by this name. The folder is entered before
// privileges are dropped, so `nobody` needs no access to the parent folders.
export const OWN_FOLDER = '/proc/self/cwd'

/** The lines of the pid file of a server; none without one. */
export const pidFile = (folder: string): string[] => {
  try {
    return readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Returns whether a process works in the folder or below it. */
export const worksIn = (pid: number | string, folder: string): boolean => {
  try {
    const place = readlinkSync(`/proc/${pid}/cwd`)
    const real = realpathSync(folder)
    return place === real || place.startsWith(`${real}/`)
  } catch (error) {
    // Root needs CAP_SYS_PTRACE to see the folders of other users' processes.
    const isHidden = (error as NodeJS.ErrnoException).code === 'EACCES'
    return isHidden && belongsTo(pid, pidFile(folder))
  }
}

/** A postmaster, or a child of it, by what every user may see of a process. */
function belongsTo(pid: number | string, [postmaster, , , port]: string[]): boolean {
  if (postmaster === undefined || !runsPostgres(postmaster, port)) return false
  return String(pid) === postmaster || parentOf(pid) === postmaster
}

/** The arguments name the port, so another server with this process id is not mistaken for it. */
function runsPostgres(pid: string, port = ''): boolean {
  const args = readProcess(pid, 'cmdline').split('\0')
  return args.includes(OWN_FOLDER) && args.includes(`port=${port}`)
}

/** The second field after the name, which is in brackets and may contain any character. */
const parentOf = (pid: number | string): string | undefined =>
  readProcess(pid, 'stat').split(') ').at(-1)?.split(' ')[1]

function readProcess(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
