import { atLeast, type Caller, isPlatform } from '../../access/caller.ts'
import { ValidationFailed } from '../../errors.ts'
import { EMAIL_PATTERN } from '../../lib/email.ts'
import { isObject } from '../../lib/is-object.ts'
import type { OrganizationFields } from './organizations.repository.ts'

const PROFILES = ['transactional', 'marketing', 'both'] as const
const MEGABYTE = 1024 * 1024

/** A request body before validation. */
export type Sent = Record<string, unknown>

/** Returns all problems of a body. Clients compare these texts. */
export function organizationProblems(sent: Sent, creating: boolean): string[] {
  const problems: string[] = []
  if (creating) {
    if (typeof sent.id !== 'string' || sent.id === '') problems.push('Organization ID is required')
    else if (!/^[A-Za-z0-9_-]+$/.test(sent.id)) {
      problems.push(
        'Organization ID must contain only alphanumeric characters, hyphens, and underscores',
      )
    } else if (sent.id.length > 26) problems.push('Organization ID must be 26 characters or less')
  }
  if (creating || sent.name !== undefined) {
    if (typeof sent.name !== 'string' || sent.name.trim() === '')
      problems.push('Organization name is required')
    else if (sent.name.length > 255)
      problems.push('Organization name must be 255 characters or less')
  }
  if (isText(sent.external_id) && sent.external_id.length > 255) {
    problems.push('External ID must be 255 characters or less')
  }
  if (isText(sent.admin_email) && !new RegExp(EMAIL_PATTERN).test(sent.admin_email)) {
    problems.push('Invalid admin email format')
  }
  if (sent.sending_profile !== undefined && !PROFILES.includes(sent.sending_profile as 'both')) {
    problems.push('sending_profile must be one of: transactional, marketing, both')
  }
  if (sent.active !== undefined && typeof sent.active !== 'boolean')
    problems.push('active must be a boolean')
  for (const name of ['settings', 'rate_limits', 'storage_quotas'] as const) {
    if (sent[name] !== undefined && !isObject(sent[name]))
      problems.push(`${name} must be an object`)
  }
  if (isObject(sent.storage_quotas)) problems.push(...allotmentProblems(sent.storage_quotas))
  const urls = sent.webhook_urls
  if (
    urls !== undefined &&
    !(Array.isArray(urls) && urls.every((url) => typeof url === 'string'))
  ) {
    problems.push('webhook_urls must be a list of strings')
  }
  for (const name of [
    'external_id',
    'description',
    'admin_email',
    'admin_name',
    'webhook_secret',
  ]) {
    const value = sent[name]
    if (value !== undefined && value !== null && typeof value !== 'string')
      problems.push(`${name} must be a string`)
  }
  return problems
}

const allotmentProblems = ({
  storage_quota_mb: megabytes,
}: {
  storage_quota_mb?: unknown
}): string[] => {
  if (megabytes === undefined || megabytes === null) return []
  if (typeof megabytes !== 'number') return ['storage_quota_mb must be a valid number']
  return megabytes < 0 ? ['storage_quota_mb must be non-negative'] : []
}

/** Bytes that an organization may allot to its domains; undefined when unlimited. */
export function allotment(storageQuotas: object): number | undefined {
  const { storage_quota_mb: megabytes } = storageQuotas as { storage_quota_mb?: unknown }
  return typeof megabytes === 'number' ? Math.floor(megabytes * MEGABYTE) : undefined
}

const TENANT_FIELDS = [
  'name',
  'description',
  'admin_email',
  'admin_name',
  'settings',
  'webhook_urls',
] as const
const PLATFORM_FIELDS = ['active', 'external_id', 'sending_profile'] as const
const QUOTA_FIELDS = ['rate_limits', 'storage_quotas'] as const

/**
 * Returns the fields that this caller may write; other fields are ignored. A tenant cannot change
 * its own limits or end its suspension.
 */
export function writable(caller: Caller, sent: Sent): OrganizationFields {
  const names: string[] = [...TENANT_FIELDS]
  if (isPlatform(caller)) names.push(...PLATFORM_FIELDS)
  if (maySetQuotas(caller)) names.push(...QUOTA_FIELDS)
  return Object.fromEntries(
    names.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name]]),
  )
}

/** Known fields that this caller may not write. */
export function forbiddenIn(caller: Caller, sent: Sent): string[] {
  const known = [...TENANT_FIELDS, ...PLATFORM_FIELDS, ...QUOTA_FIELDS]
  const allowed = writable(caller, sent)
  return known.filter((name) => sent[name] !== undefined && !(name in allowed))
}

const maySetQuotas = (caller: Caller): boolean => atLeast(caller.role, 'admin')

export function refuseInvalid(problems: string[]): void {
  if (problems.length > 0) throw new ValidationFailed(problems)
}

const isText = (value: unknown): value is string => typeof value === 'string'
