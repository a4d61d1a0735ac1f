import type { CheckedPattern } from '../../../lib/check-patterns.task.ts'
import { DETECTORS } from './detectors.ts'
import type { PolicyType } from './vocabulary.ts'

const MAX_KEYWORD_LENGTH = 200
const EXTENSION = /^\.?[a-z0-9]{1,20}$/i
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/(\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})$/i

/** Returns the problem of a pattern, or undefined when it is valid. */
export function patternProblem(
  type: PolicyType,
  pattern: string,
  checked: ReadonlyMap<string, CheckedPattern>,
): string | undefined {
  if (pattern.trim() === '') return 'Must not be empty'
  if (type === 'regex') return expressionProblem(checked.get(pattern))
  if (type === 'keyword') {
    return pattern.length > MAX_KEYWORD_LENGTH
      ? `Must have at most ${MAX_KEYWORD_LENGTH} characters`
      : undefined
  }
  if (type === 'pii') {
    return Object.hasOwn(DETECTORS, pattern)
      ? undefined
      : `Must be one of ${Object.keys(DETECTORS).join(', ')}`
  }
  return EXTENSION.test(pattern) || MEDIA_TYPE.test(pattern)
    ? undefined
    : 'Must be an extension such as exe, or a MIME type such as application/pdf or image/*'
}

function expressionProblem(checked: CheckedPattern | undefined): string | undefined {
  if (checked?.problem !== undefined) return checked.problem
  return checked?.matchesEmptyText ? 'Matches empty text, and so every message' : undefined
}
