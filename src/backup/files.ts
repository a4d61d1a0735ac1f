import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config/index.ts'
import { StartupError } from '../startup-error.ts'

const NAME = /^mailplane-(\d{8}T\d{6}Z)\.backup$/
const UNFINISHED = '.unfinished'

type Settings = Pick<Config, 'BACKUP_DIR' | 'BACKUP_TIMEOUT_SECONDS' | 'DATA_DIR'>

export const folderOf = ({ BACKUP_DIR, DATA_DIR }: Pick<Settings, 'BACKUP_DIR' | 'DATA_DIR'>) =>
  BACKUP_DIR ?? join(DATA_DIR, 'backups')

/** The id of a run, such as `20261115T101500Z`. */
export const stampOf = (time: Date): string =>
  time.toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '')

export const nameOf = (stamp: string): string => `mailplane-${stamp}.backup`

/** The id of the run that made a file; undefined for a file of another kind. */
export const stampIn = (name: string): string | undefined => NAME.exec(name)?.[1]

export const unfinishedOf = (path: string): string => `${path}${UNFINISHED}`

/** The backups of a folder, oldest first. */
export function backupsIn(folder: string): { name: string; stamp: string; size_bytes: number }[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .flatMap((name) => {
      const stamp = stampIn(name)
      if (stamp === undefined) return []
      return { name, stamp, size_bytes: statSync(join(folder, name)).size }
    })
    .sort((one, other) => one.stamp.localeCompare(other.stamp))
}

/** Creates the folder of a new backup, and removes what killed runs have left there. */
export function prepareFolder(path: string, settings: Settings, now: Date): void {
  const folder = dirname(path)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw explained(error, path)
  }
  // A living run writes more often than this.
  const oldest = now.getTime() - 2 * settings.BACKUP_TIMEOUT_SECONDS * 1000
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(UNFINISHED) || stampIn(name.slice(0, -UNFINISHED.length)) === undefined) {
      continue
    }
    const left = join(folder, name)
    if (lstatSync(left).mtimeMs < oldest) rmSync(left, { force: true })
  }
}

/** Says which folder has the problem, and what helps. */
export function explained(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StartupError(`no space left for ${path} (${code}); the unfinished file is removed`)
  }
  if (
    code === undefined ||
    !['mkdir', 'open', 'write', 'fsync', 'rename'].includes(syscall ?? '')
  ) {
    return error
  }
  return new StartupError(
    `${path} cannot be written (${code}); check BACKUP_DIR and the rights of its folder`,
  )
}
