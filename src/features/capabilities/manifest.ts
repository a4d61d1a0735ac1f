import type { Edition } from '../../config.ts'
import { VERSION } from '../../version.ts'
import type { Feature } from '../feature.ts'

/** Strings that only the enterprise edition advertises, whoever provides them. */
const ENTERPRISE = new Set([
  'billing',
  'teams',
  'reports',
  'audit',
  'deliverability',
  'dkim_rotation',
  'migration',
  'rag',
  'whitelabel',
  'reseller',
  'priority_support',
  'dlp',
  'reputation',
  'compliance',
  'analytics_engagement',
  'analytics_reports',
])

export interface Manifest {
  edition: Edition
  version: string
  capabilities: string[]
}

/** What this deployment offers: told by the features that are really there. */
export function manifestOf(edition: Edition, features: readonly Feature[]): Manifest {
  const strings = features.flatMap(({ capabilities = [] }) => capabilities)
  const offered = strings.filter((string) => edition === 'enterprise' || !ENTERPRISE.has(string))
  return { edition, version: VERSION, capabilities: [...new Set(offered)] }
}
