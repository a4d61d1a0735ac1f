import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contents, Passage } from '../../../content/texts.ts'
import { compilePattern } from '../../../lib/patterns.ts'
import { DETECTORS, detects } from './detectors.ts'
import { isFileType } from './file-types.ts'
import { keywordTest } from './keywords.ts'
import type { PolicyRow } from './policies.repository.ts'

const WINDOW = 16 * 1024
const OVERLAP = 1024
const TURN_MS = 50

/** A policy was violated: by what kind of data, which pattern found it, and where. */
export interface Match {
  type: string
  pattern: string
  where: string
}

export interface CompiledPolicy extends PolicyRow {
  /** The first match, if there is one. Throws `TooSlow` when the time is up. */
  find(contents: Contents, clock: Clock): Promise<Match | undefined>
}

/** A message could not be examined in the time there is. */
export class TooSlow extends Error {}

export type Clock = ReturnType<typeof startClock>

/** Lets others have their turn now and then, and ends what takes too long. */
export function startClock(limitMs: number) {
  const begun = performance.now()
  let last = begun
  return async () => {
    const at = performance.now()
    if (at - begun > limitMs) throw new TooSlow('It could not be examined in time')
    if (at - last < TURN_MS) return
    await nextTurn()
    last = performance.now()
  }
}

export function compilePolicy(policy: PolicyRow): CompiledPolicy {
  const { patterns, policy_type } = policy
  if (policy_type === 'file_type') {
    return { ...policy, find: async ({ attachments }) => fileOf(patterns, attachments) }
  }
  const tests = patterns.map((pattern) => ({
    pattern,
    type: policy_type === 'pii' ? pattern : policy_type,
    test: testOf(policy_type, pattern),
  }))
  return {
    ...policy,
    async find({ passages }, clock) {
      for (const { where, text } of passages) {
        for (const window of windowsOf(text)) {
          for (const { pattern, test, type } of tests) {
            await clock()
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

function fileOf(patterns: readonly string[], attachments: Contents['attachments']) {
  for (const attachment of attachments) {
    const pattern = patterns.find((one) => isFileType(attachment, one))
    if (pattern !== undefined) return { type: 'file_type', pattern, where: 'attachment' }
  }
  return undefined
}

// Characters that nobody sees between those that everybody reads.
const UNSEEN = /[\u00ad\u200b-\u200f\u2060\ufeff]/g

/** Characters in their plain form, however they were written. */
export const plainly = ({ where, text }: Passage): Passage => ({
  where,
  text: text.normalize('NFKC').replace(UNSEEN, ''),
})

/** Long text in pieces that end with a line where they can; each begins with the end of the last. */
export function* windowsOf(text: string) {
  let from = 0
  while (text.length - from > WINDOW) {
    const window = text.slice(from, from + WINDOW)
    const line = window.lastIndexOf('\n')
    const length = line >= 2 * OVERLAP ? line + 1 : WINDOW
    yield window.slice(0, length)
    const before = window.slice(length - 2 * OVERLAP, length - OVERLAP).lastIndexOf('\n')
    from += before === -1 ? length - OVERLAP : length - 2 * OVERLAP + before + 1
  }
  yield text.slice(from)
}
