import { startHeartbeat } from '../../src/features/monitoring/heartbeat.ts'
import type { App } from './app.ts'

/** The sign of life of services, which the process of a test does not give by itself. */
export const beatFor = ({ core, base }: App, names: readonly string[]) =>
  startHeartbeat(
    core,
    names.map((name) => ({ name, metrics: { totals: () => ({ requests: 0, errors: 0 }) } })),
    base,
  )
