import { invalidField } from '../../../errors.ts'
import { isCountryCode } from '../../../lib/country-codes.ts'
import type { TimeRestrictions } from './geo-policies.repository.ts'

export interface SentRestrictions {
  allowed_hours?: { start: number; end: number }
  timezone_offset?: number
  applies_to_countries?: string[]
}

/** Normalizes country codes to upper case without duplicates; the error names a wrong entry. */
export function countriesOf(field: string, sent: string[]): string[] {
  const codes = sent.map((entry) => entry.trim().toUpperCase())
  const wrong = codes.findIndex((code) => !isCountryCode(code))
  if (wrong >= 0) {
    const entry = JSON.stringify(sent[wrong]?.slice(0, 40))
    throw invalidField(field, `${entry} is not a country code of ISO 3166-1, such as DE`)
  }
  return [...new Set(codes)]
}

/** The list of allowed countries wins, so a country on both lists would silently be allowed. */
export function refuseOverlap(allowed: string[], blocked: string[]): void {
  const both = allowed.filter((country) => blocked.includes(country))
  if (both.length === 0) return
  throw invalidField(
    'blocked_countries',
    `${both.join(', ')} cannot be both allowed and blocked; take it off one of the lists`,
  )
}

/** Null for `{}`: no restrictions. */
export function restrictionsOf(sent: SentRestrictions): TimeRestrictions | null {
  const { allowed_hours, timezone_offset = 0, applies_to_countries = [] } = sent
  if (Object.keys(sent).length === 0) return null
  const field = 'time_restrictions'
  if (!allowed_hours) throw invalidField(field, 'Must have allowed_hours with start and end')
  // Equal hours could mean the whole day or no time at all.
  if (allowed_hours.start === allowed_hours.end) {
    throw invalidField(field, 'Must have an end of allowed_hours that is not its start')
  }
  return {
    allowed_hours,
    timezone_offset,
    applies_to_countries: countriesOf(field, applies_to_countries),
  }
}
