import { existsSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { edgePlace } from './place.ts'
import type { Ports } from './ports.ts'
import { signal, within, workersIn } from './processes.ts'
import { startServer } from './servers.ts'
import { privateFolders } from './settings-of.ts'

const STOP_MS = 3000
const KILL_MS = 15_000

/** The servers of a private edge, with a pattern for the paths of their programs. */
const programs = {
  postfix: /^\/usr\/lib\/postfix\//,
  dovecot: /\/dovecot(\/|$)/,
  rspamd: /\/rspamd[^/]*$/,
  clamd: /\/clamd$/,
} as const

export type EdgeServer = keyof typeof programs
export const EDGE_SERVERS = Object.keys(programs) as EdgeServer[]

const markOf = (folder: string) => `${folder}/wanted`

/** The marker file exists from `edge up` until `edge down`. */
export const markWanted = (folder: string): void => writeFileSync(markOf(folder), '')
export const unmarkWanted = (folder: string): void => rmSync(markOf(folder), { force: true })

/** Returns whether the data folder has an edge that is supposed to run. */
export function isEdgeWanted(dataDir: string): boolean {
  const folder = edgePlace(dataDir)
  return folder !== undefined && existsSync(markOf(folder))
}

/** Stops all processes of one server and starts it again with its present configuration. */
export async function restartIn(folder: string, name: EdgeServer): Promise<void> {
  const workers = () => workersIn(folder).filter((pid) => programs[name].test(programOf(pid)))
  for (const pid of workers()) signal(pid, 'SIGTERM')
  if (!(await within(STOP_MS, () => workers().length === 0))) {
    // SIGKILL loses no mail: a message is either in a queue or not accepted yet.
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
