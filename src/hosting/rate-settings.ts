import type { Caller } from '../access/caller.ts'
import type { Tx } from '../database/database.ts'
import { type Direction, type EntityType, LIMIT_FIELDS, type LimitField } from './rate-rules.ts'

const MAX_LIMIT = 2_147_483_647

/** An organization, domain or mailbox whose `rate_limits` are written. */
export interface LimitedEntity {
  type: EntityType
  organizationId: string
  /** The organization's id, the domain or the e-mail address. */
  identifier: string
  domain: string | null
}

/** Turns `rate_limits` of an entity into rules of the rate limiter, in the transaction of the change. */
export interface RateSettings {
  apply(tx: Tx, caller: Caller, entity: LimitedEntity, before: object, after: object): Promise<void>
}

/** `outbound_hourly` and `inbound_hourly`; `hourly` and `hourly_limit` mean outbound. */
function readKey(key: string): { direction: Direction; field: LimitField } | undefined {
  const [, direction = 'outbound', window = ''] =
    /^(?:(outbound|inbound)_)?(.+?)(?:_limit)?$/.exec(key) ?? []
  const field = LIMIT_FIELDS.find((one) => one === `${window}_limit`)
  return field && { direction: direction as Direction, field }
}

/** The key of a limit in `rate_limits`, in its full form. */
export const settingKey = (direction: Direction, field: LimitField): string =>
  `${direction}_${field.replace('_limit', '')}`

/** The other spellings of a key, which the full form replaces. */
export const aliasesOf = (direction: Direction, field: LimitField): string[] => [
  `${direction}_${field}`,
  ...(direction === 'outbound' ? [field, field.replace('_limit', '')] : []),
]

export function rateSettingProblems(rateLimits: unknown): string[] {
  if (rateLimits === null || typeof rateLimits !== 'object') return []
  return Object.entries(rateLimits).flatMap(([key, value]) => {
    if (!readKey(key)) {
      return [`rate_limits.${key} is not a limit; use names such as outbound_hourly`]
    }
    const isLimit = Number.isSafeInteger(value) && value >= 0 && value <= MAX_LIMIT
    return isLimit ? [] : [`rate_limits.${key} must be a whole number from 0 to ${MAX_LIMIT}`]
  })
}

/** The limits of one direction. */
export const limitsOfSettings = (
  rateLimits: object,
  wanted: Direction,
): Partial<Record<LimitField, number>> =>
  Object.fromEntries(
    Object.entries(rateLimits).flatMap(([key, value]) => {
      const read = readKey(key)
      return read?.direction === wanted && typeof value === 'number' ? [[read.field, value]] : []
    }),
  )
