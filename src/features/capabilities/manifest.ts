import type { Edition } from '../../config/index.ts'
import { VERSION } from '../../version.ts'
import type { Feature } from '../feature.ts'

export interface Manifest {
  edition: Edition
  version: string
  capabilities: string[]
}

/** Collects the capabilities of the features that this deployment offers. */
export function manifestOf(edition: Edition, features: readonly Feature[]): Manifest {
  const strings = features.flatMap(({ capabilities = [] }) => capabilities)
  return { edition, version: VERSION, capabilities: [...new Set(strings)] }
}
