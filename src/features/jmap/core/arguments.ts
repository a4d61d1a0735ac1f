import { isObject } from '../../../lib/is-object.ts'
import { invalidArguments, JmapError } from './errors.ts'
import { LIMITS, MAX_ID_OCTETS } from './limits.ts'

export type Arguments = Record<string, unknown>

const isMissing = (value: unknown): value is null | undefined =>
  value === undefined || value === null

export function stringArgument(args: Arguments, name: string): string {
  const value = args[name]
  if (typeof value !== 'string') throw invalidArguments(`${name} must be a string`)
  return value
}

export function optionalString(args: Arguments, name: string): string | undefined {
  return isMissing(args[name]) ? undefined : stringArgument(args, name)
}

export function flagArgument(args: Arguments, name: string): boolean {
  const value = args[name]
  if (isMissing(value)) return false
  if (typeof value !== 'boolean') throw invalidArguments(`${name} must be true or false`)
  return value
}

export function optionalInteger(
  args: Arguments,
  name: string,
  minimum = Number.MIN_SAFE_INTEGER,
): number | undefined {
  const value = args[name]
  if (isMissing(value)) return undefined
  if (!Number.isSafeInteger(value) || (value as number) < minimum) {
    throw invalidArguments(`${name} must be a whole number`)
  }
  return value as number
}

export function optionalStrings(args: Arguments, name: string): string[] | undefined {
  const value = args[name]
  if (isMissing(value)) return undefined
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) {
    throw invalidArguments(`${name} must be a list of strings`)
  }
  return value
}

/** An id is at most 255 octets long; `#` before it means that it is a creation id. */
export const isId = (value: unknown): value is string =>
  typeof value === 'string' &&
  Buffer.byteLength(value) <= MAX_ID_OCTETS + (value.startsWith('#') ? 1 : 0)

/** Answers repeat ids, so their length is limited. */
export function optionalIds(args: Arguments, name: string): string[] | undefined {
  const ids = optionalStrings(args, name)
  if (ids && !ids.every(isId)) throw idTooLong(name)
  return ids
}

const idTooLong = (name: string) =>
  invalidArguments(`${name} has an id of more than ${MAX_ID_OCTETS} octets`)

/** The ids of a /get call, each once; undefined for all. */
export function idsArgument(args: Arguments, name = 'ids'): string[] | undefined {
  const ids = optionalIds(args, name)
  const unique = ids && [...new Set(ids)]
  if (unique && unique.length > LIMITS.maxObjectsInGet) {
    throw new JmapError('requestTooLarge', {
      description: `Ask for at most ${LIMITS.maxObjectsInGet} objects at once`,
    })
  }
  return unique
}

/** Objects by their id or creation id. */
export function objectArgument(
  args: Arguments,
  name: string,
): Record<string, Record<string, unknown>> {
  const value = args[name]
  if (isMissing(value)) return {}
  if (!isObject(value) || Object.values(value).some((one) => !isObject(one))) {
    throw invalidArguments(`${name} must be an object of objects`)
  }
  if (!Object.keys(value).every(isId)) throw idTooLong(name)
  return value as Record<string, Record<string, unknown>>
}

/** A time of RFC 3339. */
export function isDate(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
}

/** A time without fractions of a second, in UTC. */
export const utcDate = (time: string | Date): string =>
  new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
