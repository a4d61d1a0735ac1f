import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'

/** A long-running service. Operators choose daemons with `--services`. */
export interface Daemon {
  start(core: Core): Promise<Running>
}

export interface Running {
  features: Feature[]
  /** Renders the metrics that this daemon adds to those of its HTTP requests. */
  metrics?: () => Promise<string>
  stop(): Promise<void>
}
