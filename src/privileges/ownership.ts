import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { giveEdgeFiles, type ServiceUser } from '../edge/service-user.ts'
import { StartupError } from '../startup-error.ts'
import { parentsOf, trustedEdge } from './trusted-edge.ts'

/** The owners of files that an earlier start as root has left. */
const EARLIER_OWNERS = [0, 65_534]
/** The mail servers own their files. */
const EDGE = 'edge'
// O_NONBLOCK: a pipe must not stop the start.
const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Gives the data folder to the service user, except for the files of the mail servers. */
export function giveDataDir(dataDir: string, user: ServiceUser): void {
  const folder = resolve(dataDir)
  // A mistake in DATA_DIR must not change the owner of a system folder.
  if (dirname(folder) === '/' || ['/var/lib', '/var/log', '/usr/local'].includes(folder)) {
    throw new StartupError(`DATA_DIR ${folder} must be a folder of Mailplane alone`)
  }
  // Root keeps the folder: with the sticky bit the user cannot replace entries of others in it.
  chownSync(folder, 0, user.gid)
  chmodSync(folder, 0o1770 | (statSync(folder).mode & 0o001))
  for (const name of readdirSync(folder)) {
    if (name !== EDGE) giveAll(join(folder, name), user)
  }
  const edge = trustedEdge(folder)
  if (edge !== undefined) giveEdgeFiles(edge, user)
}

/**
 * Works on open files, because the user may own a folder above and replace an entry by a link in the
 * meantime. Links, and files with a second name, may be files of the system and keep their owner.
 */
function giveAll(path: string, user: ServiceUser): void {
  const file = open(path)
  if (file === undefined) return
  try {
    const entry = fstatSync(file)
    const isOnlyName = entry.isFile() && entry.nlink === 1
    if (!entry.isDirectory() && !isOnlyName) return
    if (EARLIER_OWNERS.includes(entry.uid)) fchownSync(file, user.uid, user.gid)
    if (!entry.isDirectory()) return
    const folder = `/proc/self/fd/${file}`
    for (const name of readdirSync(folder)) giveAll(join(folder, name), user)
  } finally {
    closeSync(file)
  }
}

/** Undefined for a link, a socket, and a file that has gone. */
function open(path: string): number | undefined {
  try {
    return openSync(path, OPEN)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ELOOP', 'ENXIO', 'ENOENT'].includes(code)) return undefined
    throw error
  }
}

/** Stops the start if the user could not reach a folder that it needs. */
export function requireReachable(paths: readonly string[], user: ServiceUser): void {
  for (const path of paths) {
    const closed = parentsOf(resolve(path)).find((folder) => !mayEnter(folder, user))
    if (closed !== undefined) {
      throw new StartupError(
        `the user ${user.name} cannot reach ${path}: ${closed} is closed to it; open it (chmod o+x ${closed}), or set SVC_USER=root`,
      )
    }
  }
}

function mayEnter(folder: string, { uid, gid }: ServiceUser): boolean {
  const { mode, uid: owner, gid: group } = statSync(folder)
  if (owner === uid) return (mode & 0o100) !== 0
  return (mode & (group === gid ? 0o010 : 0o001)) !== 0
}
