import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'

/** A long-running part of the system. Operators choose daemons with `--services`. */
export interface Daemon {
  start(core: Core): Promise<Running>
}

export interface Running {
  features: Feature[]
  /** Lines that it adds to its metrics, computed when asked for. */
  metrics?: () => string | Promise<string>
  stop(): Promise<void>
}
