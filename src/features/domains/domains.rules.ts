import { rateSettingProblems } from '../../hosting/rate-settings.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { isPublicSuffix } from './ownership/ownership.rules.ts'

const SELECTOR = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/

export type Sent = Record<string, unknown>

/** Returns the name in its stored form, or the problem with it. */
export function readDomainName(sent: unknown): { name: string } | { problem: string } {
  if (typeof sent !== 'string' || sent.trim() === '') return { problem: 'Domain name is required' }
  const name = toDomainName(sent)
  if (!name || isPublicSuffix(name)) return { problem: 'Invalid domain name format' }
  return { name }
}

/** Returns all problems of the fields. Clients compare these texts. */
export function domainProblems(sent: Sent): string[] {
  const problems: string[] = []
  const amount = (name: string, label: string) => {
    const value = sent[name]
    if (value === undefined) return
    if (typeof value !== 'number' || !Number.isSafeInteger(value))
      problems.push(`${label} must be a valid number`)
    else if (value < 0) problems.push(`${label} must be non-negative`)
  }
  amount('max_quota', 'Max quota')
  amount('max_users', 'Max users')
  if (typeof sent.max_users === 'number' && sent.max_users > 2_147_483_647) {
    problems.push('Max users must be a valid number')
  }
  if (
    sent.dkim_selector !== undefined &&
    !(typeof sent.dkim_selector === 'string' && SELECTOR.test(sent.dkim_selector))
  ) {
    problems.push(
      'DKIM selector must be a single label without dots, at most 63 letters, digits, hyphens or underscores',
    )
  }
  for (const name of ['active', 'dkim_enabled', 'tracking_enabled']) {
    if (sent[name] !== undefined && typeof sent[name] !== 'boolean')
      problems.push(`${name} must be a boolean`)
  }
  for (const name of ['rate_limits', 'storage_quotas']) {
    const value = sent[name]
    if (
      value !== undefined &&
      (value === null || typeof value !== 'object' || Array.isArray(value))
    ) {
      problems.push(`${name} must be an object`)
    }
  }
  problems.push(...rateSettingProblems(sent.rate_limits))
  for (const name of ['external_id', 'description']) {
    const value = sent[name]
    if (value !== undefined && value !== null && typeof value !== 'string')
      problems.push(`${name} must be a string`)
  }
  if (typeof sent.external_id === 'string' && sent.external_id.length > 255) {
    problems.push('External ID must be 255 characters or less')
  }
  return problems
}

const FIELDS = [
  'external_id',
  'description',
  'active',
  'max_quota',
  'max_users',
  'dkim_enabled',
  'dkim_selector',
  'tracking_enabled',
  'rate_limits',
  'storage_quotas',
] as const

export const QUOTA_FIELDS = ['max_quota', 'max_users', 'rate_limits', 'storage_quotas'] as const

/** Returns those of the named fields that were sent. */
export const pick = (sent: Sent, names: readonly string[] = FIELDS): Record<string, never> =>
  Object.fromEntries(
    names.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name] as never]),
  )
