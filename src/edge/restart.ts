import { existsSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { edgePlace } from './place.ts'
import type { Ports } from './ports.ts'
import { signal, within, workersIn } from './processes.ts'
import { startServer } from './servers.ts'
import { privateFolders } from './settings-of.ts'

const STOP_MS = 3000
const KILL_MS = 1000

/** The servers of a private edge, with where their programs lie. */
const programs = {
  postfix: /^\/usr\/lib\/postfix\//,
  dovecot: /\/dovecot(\/|$)/,
  rspamd: /\/rspamd[^/]*$/,
} as const

export type EdgeServer = keyof typeof programs
export const EDGE_SERVERS = Object.keys(programs) as EdgeServer[]

const markOf = (folder: string) => `${folder}/wanted`

/** Somebody has started the edge and wants it to run; who stops it takes that back. */
export const markWanted = (folder: string): void => writeFileSync(markOf(folder), '')
export const unmarkWanted = (folder: string): void => rmSync(markOf(folder), { force: true })

/** Whether there is an edge beside this data folder that is meant to run. */
export function isEdgeWanted(dataDir: string): boolean {
  const folder = edgePlace(dataDir)
  return folder !== undefined && existsSync(markOf(folder))
}

/** Stops one server with all its processes and starts it again, as it is configured. */
export async function restartIn(folder: string, name: EdgeServer): Promise<void> {
  const workers = () => workersIn(folder).filter((pid) => programs[name].test(programOf(pid)))
  for (const pid of workers()) signal(pid, 'SIGTERM')
  if (!(await within(STOP_MS, () => workers().length === 0))) {
    // Mail under way is in a queue or not accepted yet; nothing is lost with those who wait.
    for (const pid of workers()) signal(pid, 'SIGKILL')
    await within(KILL_MS, () => workers().length === 0)
  }
  const ports = JSON.parse(readFileSync(`${folder}/ports.json`, 'utf8')) as Ports
  await startServer(name, { folders: privateFolders(folder), ports }, folder)
}

function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return ''
  }
}
