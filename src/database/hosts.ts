import { parseDatabaseHosts } from '../lib/database-hosts.ts'
import { StartupError } from '../startup-error.ts'
import type { Target } from './connect.ts'

interface Hosts {
  targets: readonly Target[]
  needsPrimary: boolean
}

/** The servers of a target; an embedded one is alone. */
export function hostsOf(target: Target): Hosts {
  if (typeof target !== 'string') return { targets: [target], needsPrimary: false }
  const hosts = parseDatabaseHosts(target)
  if (!hosts) throw new StartupError('the address of the database is malformed')
  return hosts
}
