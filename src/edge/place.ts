import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { StartupError } from '../startup-error.ts'

// A socket's path holds at most 107 bytes, and Dovecot adds up to 40 to its folder's.
const LONGEST = 60
const ELSEWHERE = '/var/lib/mailplane'

/** The folder of the edge that belongs to a data folder; undefined when none was ever started. */
export function edgePlace(dataDir: string): string | undefined {
  const link = join(dataDir, 'edge')
  return existsSync(link) ? realpathSync(link) : undefined
}

/**
 * Makes that folder. Four different users work in it, so every folder above must let them pass, and
 * its path must be short; where that cannot be, it lies elsewhere and `edge` is a link to it.
 */
export function makeEdgePlace(dataDir: string): string {
  const link = join(dataDir, 'edge')
  const here = join(realpathSync(dataDir), 'edge')
  // What is in the data folder is protected file by file; passing through shows nothing.
  chmodSync(dataDir, statSync(dataDir).mode | 0o011)
  const isGood = here.length <= LONGEST && parents(here).every(isOpen)
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) {
    if (isGood) return here
    throw new StartupError(
      `the mail servers cannot reach ${here}; its path must be at most ${LONGEST} characters long, and every folder above it open to all (chmod o+x)`,
    )
  }
  const { dev, ino } = statSync(dataDir)
  const folder = isGood ? here : join(ELSEWHERE, `edge-${dev.toString(36)}-${ino.toString(36)}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  chmodSync(folder, 0o755)
  if (!isGood && !existsSync(link)) symlinkSync(folder, link)
  return folder
}

const isOpen = (folder: string) => (statSync(folder).mode & 0o001) !== 0

const parents = (path: string): string[] => {
  const above = dirname(path)
  return above === path ? [] : [above, ...parents(above)]
}
