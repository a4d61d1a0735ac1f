import { invalidField } from '../../../errors.ts'
import type { TimeRestrictions } from './geo-policies.repository.ts'

export interface SentRestrictions {
  allowed_hours?: { start: number; end: number }
  timezone_offset?: number
  applies_to_countries?: string[]
}

/** Upper case, each once; what is not two letters is refused by name. */
export function countriesOf(field: string, sent: string[]): string[] {
  const codes = sent.map((entry) => entry.trim().toUpperCase())
  const wrong = codes.findIndex((code) => !/^[A-Z]{2}$/.test(code))
  if (wrong >= 0) {
    const entry = JSON.stringify(sent[wrong]?.slice(0, 40))
    throw invalidField(field, `${entry} is not a country code of two letters`)
  }
  return [...new Set(codes)]
}

/** The list of allowed countries counts first, so what is on both would silently be allowed. */
export function refuseBoth(allowed: string[], blocked: string[]): void {
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
  // From 8 to 8 could mean all day or never.
  if (allowed_hours.start === allowed_hours.end) {
    throw invalidField(field, 'Must have an end of allowed_hours that is not its start')
  }
  return {
    allowed_hours,
    timezone_offset,
    applies_to_countries: countriesOf(field, applies_to_countries),
  }
}
