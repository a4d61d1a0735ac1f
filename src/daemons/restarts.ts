import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import { edgeRestart } from '../edge/edge.ts'
import { EDGE_SERVERS, isEdgeWanted } from '../edge/restart.ts'
import type { Restarts } from '../features/monitoring/restarts/restarts.ts'

// One list per process, shared by all daemons.
const ofProcess = new WeakMap<Db, Map<string, () => Promise<void>>>()

/** Registers a daemon of this process that can restart without the others. */
export function offerRestart({ db }: Pick<Core, 'db'>, name: string, restart: () => Promise<void>) {
  const offered = ofProcess.get(db) ?? new Map<string, () => Promise<void>>()
  ofProcess.set(db, offered.set(name, restart))
}

const PART_OF: Record<string, string> = { doveadm: 'dovecot', managesieve: 'dovecot' }

/** The services that this process can restart, and the reason why it cannot restart the others. */
export const restartsOf = ({
  config,
  db,
  helper,
}: Pick<Core, 'config' | 'db' | 'helper'>): Restarts => ({
  of(service) {
    const server = EDGE_SERVERS.find((name) => name === service)
    if (server) {
      return isEdgeWanted(config.DATA_DIR)
        ? { restart: () => helper?.restart(server) ?? edgeRestart(config.DATA_DIR, server) }
        : {
            why: `${service} does not run in a private edge beside this process: restart it on its host`,
          }
    }
    const restart = ofProcess.get(db)?.get(service)
    if (restart) return { restart }
    const whole = PART_OF[service]
    if (whole) return { why: `${service} is a part of ${whole}: restart that` }
    if (service === 'postgresql' || service === 'redis') {
      return { why: `${service} is not this process's to restart` }
    }
    return {
      why: `${service} answers requests in its process and restarts with it: restart the process`,
    }
  },
})
