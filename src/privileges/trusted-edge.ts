import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config/index.ts'
import { resolveMailServers } from '../config/mail-servers.ts'
import { readSettings } from '../mail/mail-servers.ts'
import { StartupError } from '../startup-error.ts'

const STICKY = 0o1000
const WRITABLE_BY_OTHERS = 0o022

/**
 * The folder of the private edge, if no user but root can have replaced it: the helper runs programs
 * with the configuration that it finds there. Undefined when there is no edge.
 */
export function trustedEdge(dataDir: string): string | undefined {
  const link = join(dataDir, 'edge')
  if (!existsSync(link)) return undefined
  const folder = realpathSync(link)
  for (const path of [folder, ...parentsOf(folder)]) {
    const { uid, mode } = statSync(path)
    const isOpen = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0
    if (uid !== 0 || isOpen) throw notOfRoot(path)
  }
  return folder
}

const notOfRoot = (path: string) =>
  new StartupError(
    `${path} does not belong to root alone, so the mail edge in DATA_DIR cannot be trusted; move DATA_DIR, or set SVC_USER=root`,
  )

/** The addresses of the mail servers, from settings that only the operator and root can write. */
export const trustedMailServers = (config: Pick<Config, 'DATA_DIR' | 'mailServers'>) => ({
  current() {
    const folder = trustedEdge(config.DATA_DIR)
    const file = folder === undefined ? undefined : join(folder, 'edge.env')
    if (file === undefined || !existsSync(file)) return resolveMailServers(config.mailServers)
    const { uid, mode } = statSync(file)
    if (uid !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0) throw notOfRoot(file)
    return resolveMailServers(config.mailServers, readSettings(readFileSync(file, 'utf8')))
  },
})

export const parentsOf = (path: string): string[] => {
  const above = dirname(path)
  return above === path ? [] : [above, ...parentsOf(above)]
}
