import { isObject } from '../../../lib/is-object.ts'
import { invalidArguments, JmapError } from './errors.ts'
import { MAX_FILTER_CONDITIONS, MAX_FILTER_DEPTH } from './limits.ts'

/** RFC 8620 section 5.5: conditions joined by operators. */
export type Filter =
  | { operator: 'AND' | 'OR' | 'NOT'; conditions: Filter[] }
  | { condition: Record<string, unknown> }

/** Checks the shape of a filter; null and undefined match everything. */
export function readFilter(value: unknown): Filter {
  let count = 0
  const read = (one: unknown, depth: number): Filter => {
    if (one === null || one === undefined) return { operator: 'AND', conditions: [] }
    if (!isObject(one)) throw invalidArguments('filter must be an object')
    if (depth > MAX_FILTER_DEPTH || ++count > MAX_FILTER_CONDITIONS) {
      throw new JmapError('unsupportedFilter', { description: 'The filter is too large' })
    }
    if (!('operator' in one)) return { condition: one }
    const { operator, conditions } = one
    if (operator !== 'AND' && operator !== 'OR' && operator !== 'NOT') {
      throw invalidArguments('operator must be AND, OR or NOT')
    }
    if (!Array.isArray(conditions)) throw invalidArguments('conditions must be a list')
    return { operator, conditions: conditions.map((inner) => read(inner, depth + 1)) }
  }
  return read(value, 0)
}

/** All conditions of a filter, wherever they are. */
export const conditionsOf = (filter: Filter): Record<string, unknown>[] =>
  'condition' in filter ? [filter.condition] : filter.conditions.flatMap(conditionsOf)

/** A filter as a test of objects in memory. */
export function tester<One>(
  filter: Filter,
  test: (condition: Record<string, unknown>) => (one: One) => boolean,
): (one: One) => boolean {
  if ('condition' in filter) return test(filter.condition)
  const tests = filter.conditions.map((inner) => tester(inner, test))
  switch (filter.operator) {
    case 'AND':
      return (one) => tests.every((passes) => passes(one))
    case 'OR':
      return (one) => tests.some((passes) => passes(one))
    case 'NOT':
      return (one) => !tests.some((passes) => passes(one))
  }
}

export interface Sorting {
  property: string
  isAscending: boolean
  keyword: string | undefined
}

export function readSort(
  value: unknown,
  known: readonly string[],
  collations: readonly string[],
): Sorting[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value) || value.some((one) => !isObject(one))) {
    throw invalidArguments('sort must be a list of objects')
  }
  return value.map(({ property, isAscending = true, collation, keyword }) => {
    if (typeof property !== 'string') throw invalidArguments('sort needs a property')
    if (typeof isAscending !== 'boolean')
      throw invalidArguments('isAscending must be true or false')
    if (!known.includes(property)) throw new JmapError('unsupportedSort')
    if (collation !== undefined && collation !== null && !collations.includes(collation)) {
      throw new JmapError('unsupportedSort', { description: 'The collation is not supported' })
    }
    return { property, isAscending, keyword: typeof keyword === 'string' ? keyword : undefined }
  })
}
