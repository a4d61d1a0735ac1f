import { availableParallelism } from 'node:os'
import type { Config } from '../config/index.ts'
import type { Offered } from '../daemons/index.ts'

const MIN_CORES = 4
/** Connections of a process besides its pool, and those of commands and mail servers. */
const FURTHER_CONNECTIONS = 10
const OTHERS = 80

export interface Plan {
  /** Processes that answer requests; with one of them everything runs in a single process. */
  workers: number
  /** The daemons that run in every worker. */
  web: readonly Offered[]
  /** The daemons that run once, in a process of their own. */
  once: readonly Offered[]
}

/** Only processes with the API are divided: the other daemons start threads and processes as needed. */
export function planProcesses(
  { SVC_WORKERS }: Pick<Config, 'SVC_WORKERS'>,
  daemons: readonly Offered[],
  cores = availableParallelism(),
): Plan {
  const wanted = SVC_WORKERS === 'auto' ? automatic(cores) : SVC_WORKERS
  const web = daemons.filter(({ isSpread }) => isSpread)
  const once = daemons.filter(({ isSpread }) => !isSpread)
  return { workers: web.some(({ name }) => name === 'api') ? wanted : 1, web, once }
}

const automatic = (cores: number) => (cores < MIN_CORES ? 1 : Math.floor(cores / 2))

/** The connections that an embedded PostgreSQL must accept. */
export const connectionsFor = (
  { DATABASE_POOL }: Pick<Config, 'DATABASE_POOL'>,
  { workers }: Plan,
): number => OTHERS + (workers + 1) * (DATABASE_POOL + FURTHER_CONNECTIONS)
