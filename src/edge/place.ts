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
import { NOBODY } from './service-user.ts'

// The path of a Unix socket has at most 107 bytes; Dovecot appends up to 40 to its folder.
const LONGEST = 60
const ELSEWHERE = '/var/lib/mailplane'

/** The edge folder of a data folder; undefined when no edge was ever started. */
export function edgePlace(dataDir: string): string | undefined {
  const link = join(dataDir, 'edge')
  return existsSync(link) ? realpathSync(link) : undefined
}

/**
 * Creates the edge folder. Its path must be short, accessible to the users of the mail servers, and
 * below folders of root; otherwise the folder is created under /var/lib/mailplane and `edge` is a link to it.
 */
export function makeEdgePlace(dataDir: string): string {
  // Without an embedded database nothing has created it yet.
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const link = join(dataDir, 'edge')
  const here = join(realpathSync(dataDir), 'edge')
  // Search permission only: the files in the data folder have their own permissions.
  chmodSync(dataDir, statSync(dataDir).mode | 0o011)
  const isReachable = here.length <= LONGEST && parents(here).every(isOpen)
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) {
    if (isReachable) return here
    throw new StartupError(
      `the mail servers cannot reach ${here}; its path must be at most ${LONGEST} characters long, and every folder above it open to all (chmod o+x)`,
    )
  }
  // The helper of a server that runs as a user trusts only what root alone can have written.
  const isGood = isReachable && parents(here).every(isOfRoot)
  const { dev, ino } = statSync(dataDir)
  const folder = isGood ? here : join(ELSEWHERE, `edge-${dev.toString(36)}-${ino.toString(36)}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  chmodSync(folder, 0o755)
  if (!isGood && !existsSync(link)) symlinkSync(folder, link)
  return folder
}

const isOpen = (folder: string) => (statSync(folder).mode & 0o001) !== 0

function isOfRoot(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  return (uid === 0 || uid === NOBODY) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)
}

const parents = (path: string): string[] => {
  const above = dirname(path)
  return above === path ? [] : [above, ...parents(above)]
}
