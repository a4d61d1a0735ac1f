import { compilePattern, UnusablePattern } from '../../../lib/patterns.ts'
import { DETECTORS } from './detectors.ts'
import type { PolicyType } from './vocabulary.ts'

const MAX_KEYWORD = 200
const EXTENSION = /^\.?[a-z0-9]{1,20}$/i
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/(\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})$/i

/** What is wrong with a pattern of a policy; undefined when nothing is. */
export function patternProblem(type: PolicyType, pattern: string): string | undefined {
  if (pattern.trim() === '') return 'Must not be empty'
  if (type === 'regex') return expressionProblem(pattern)
  if (type === 'keyword') {
    return pattern.length > MAX_KEYWORD ? `Must have at most ${MAX_KEYWORD} characters` : undefined
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

function expressionProblem(source: string): string | undefined {
  try {
    const pattern = compilePattern(source)
    return pattern.test('') ? 'Matches empty text, and so every message' : undefined
  } catch (error) {
    if (error instanceof UnusablePattern) return error.message
    throw error
  }
}
