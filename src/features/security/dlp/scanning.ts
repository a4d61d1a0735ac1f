import { compilePattern } from '../../../lib/patterns.ts'
import type { MessageTexts, Passage } from '../../../mime/texts.ts'
import { DETECTORS, detects } from './detectors.ts'
import { isFileType } from './file-types.ts'
import { keywordTest } from './keywords.ts'
import type { PolicyRow } from './policies.repository.ts'

const WINDOW_LENGTH = 16 * 1024
const OVERLAP = 1024

/** A violation of a policy: the kind of data, the matching pattern and the place in the message. */
export interface Match {
  type: string
  pattern: string
  where: string
}

/** The part of a policy that decides what it finds. */
export type Patterns = Pick<PolicyRow, 'patterns' | 'policy_type'>

export interface CompiledPolicy {
  /** Returns the first match. Throws `TooSlow` after the time limit. */
  find(contents: MessageTexts, clock: Clock): Match | undefined
}

/** The time limit for one message is exceeded. */
export class TooSlow extends Error {}

type Clock = ReturnType<typeof startClock>

export const TOO_SLOW = 'It could not be examined in time'

/** Throws after the time limit. */
export function startClock(limitMs: number) {
  const begun = performance.now()
  return () => {
    if (performance.now() - begun > limitMs) throw new TooSlow(TOO_SLOW)
  }
}

export function compilePolicy({ patterns, policy_type }: Patterns): CompiledPolicy {
  if (policy_type === 'file_type') {
    return { find: ({ attachments }, clock) => fileOf(patterns, attachments, clock) }
  }
  const tests = patterns.map((pattern) => ({
    pattern,
    type: policy_type === 'pii' ? pattern : policy_type,
    test: testOf(policy_type, pattern),
  }))
  return {
    find({ passages }, clock) {
      for (const { where, text } of passages) {
        for (const window of windowsOf(text)) {
          for (const { pattern, test, type } of tests) {
            clock()
            if (test(window)) return { type, pattern, where }
          }
        }
      }
      return undefined
    },
  }
}

function testOf(type: PolicyRow['policy_type'], pattern: string): (text: string) => boolean {
  if (type === 'regex') {
    const compiled = compilePattern(pattern)
    return (text) => compiled.test(text)
  }
  if (type === 'pii' && Object.hasOwn(DETECTORS, pattern)) return (text) => detects(pattern, text)
  return keywordTest(pattern)
}

function fileOf(
  patterns: readonly string[],
  attachments: MessageTexts['attachments'],
  clock: Clock,
): Match | undefined {
  for (const attachment of attachments) {
    clock()
    const pattern = patterns.find((candidate) => isFileType(attachment, candidate))
    if (pattern !== undefined) return { type: 'file_type', pattern, where: 'attachment' }
  }
  return undefined
}

// Zero-width characters and soft hyphens, which can hide a word from a search.
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/g

/** Replaces compatibility forms such as wide digits, and removes invisible characters. */
export const plainly = ({ where, text }: Passage): Passage => ({
  where,
  // ASCII has none of them, and a copy of 50 MB is saved.
  text: /[^\x00-\x7f]/.test(text) ? text.normalize('NFKC').replace(INVISIBLE, '') : text,
})

/** Splits long text into overlapping windows, at line breaks where possible. */
export function* windowsOf(text: string) {
  let from = 0
  while (text.length - from > WINDOW_LENGTH) {
    const window = text.slice(from, from + WINDOW_LENGTH)
    const line = window.lastIndexOf('\n')
    const length = line >= 2 * OVERLAP ? line + 1 : WINDOW_LENGTH
    yield window.slice(0, length)
    const before = window.slice(length - 2 * OVERLAP, length - OVERLAP).lastIndexOf('\n')
    from += before === -1 ? length - OVERLAP : length - 2 * OVERLAP + before + 1
  }
  yield text.slice(from)
}
