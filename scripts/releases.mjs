// The releases: migrations/releases.txt has the version and the commit of each, because a clone may
// come without tags.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

export const RELEASES_FILE = join('migrations', 'releases.txt')

/** The recorded releases, the oldest first. */
export const releasesIn = (folder) => {
  const file = join(folder, 'releases.txt')
  return linesOf(existsSync(file) ? readFileSync(file, 'utf8') : '').map((line) => {
    const [version, commit] = line.split('  ')
    return { version, commit }
  })
}

/** The checksums that a release has frozen, by file; undefined where git or its commit is missing. */
export function checksumsOf({ commit }) {
  const { status, stdout } = spawnSync('git', ['show', `${commit}:migrations/checksums.txt`], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 ? checksumsIn(stdout) : undefined
}

/** The lines of checksums.txt, by file. */
export const checksumsIn = (text) =>
  new Map(linesOf(text).map((line) => line.split('  ').reverse()))

const linesOf = (text) => text.split('\n').filter((line) => line !== '')
