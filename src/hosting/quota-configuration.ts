import type { Config } from '../config/index.ts'

const MIB = 1024 ** 2

export const bytesOf = (megabytes: number): number => megabytes * MIB

/** The largest number of megabytes whose bytes are a safe integer. */
export const MOST_MEGABYTES = Math.floor(Number.MAX_SAFE_INTEGER / MIB)

const DEFAULTS = {
  attachment_storage_limit: 5 * 1024 ** 3,
  max_file_size: 25 * MIB,
  max_attachment_size: 25 * MIB,
  max_email_size: 50 * MIB,
}

/** The content of `storage_quotas`, whose values are not validated. */
type Settings = object | undefined

/** Ordered by precedence: mailbox, domain, organization. */
interface QuotaSource {
  settings: readonly Settings[]
  /** Bytes; 0 means unset, and the next one applies. */
  limits: readonly number[]
}

type Thresholds = Pick<Config, 'STORAGE_WARNING_THRESHOLD' | 'STORAGE_CRITICAL_THRESHOLD'>

export type QuotaConfiguration = ReturnType<typeof quotaConfiguration>

/** The effective quota settings. Invalid settings are ignored. */
export function quotaConfiguration({ settings, limits }: QuotaSource, config: Thresholds) {
  const first = <Value>(name: string, accepts: (value: unknown) => value is Value) =>
    settings.map((one) => (one as Record<string, unknown>)?.[name]).find(accepts)
  const amount = (name: keyof typeof DEFAULTS) => first(name, isAmount) ?? DEFAULTS[name]
  return {
    total_storage_limit: limits.find((limit) => limit > 0) ?? null,
    attachment_storage_limit: amount('attachment_storage_limit'),
    max_file_size: amount('max_file_size'),
    max_attachment_size: amount('max_attachment_size'),
    max_email_size: amount('max_email_size'),
    enforce_limits: first('enforce_limits', isBoolean) ?? true,
    warning_threshold: first('warning_threshold', isPercent) ?? config.STORAGE_WARNING_THRESHOLD,
    critical_threshold: first('critical_threshold', isPercent) ?? config.STORAGE_CRITICAL_THRESHOLD,
    allowed_file_types: first('allowed_file_types', isWords) ?? null,
    blocked_file_types: first('blocked_file_types', isWords) ?? null,
  }
}

/** The default quota of new mailboxes in bytes; undefined when the domain sets none. */
export function defaultMailboxQuota(settings: Settings): number | undefined {
  const megabytes = (settings as Record<string, unknown>)?.default_mailbox_quota_mb
  return isAmount(megabytes) && megabytes > 0 && megabytes <= MOST_MEGABYTES
    ? bytesOf(megabytes)
    : undefined
}

/** The storage limit of an organization in bytes; undefined when it has none. */
export function organizationLimit(settings: Settings): number | undefined {
  const megabytes = (settings as Record<string, unknown>)?.storage_quota_mb
  return isAmount(megabytes) ? bytesOf(megabytes) : undefined
}

const isAmount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0
const isPercent = (value: unknown): value is number => isAmount(value) && value >= 1 && value <= 100
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isWords = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((word) => typeof word === 'string')
