import { RE2JS, RE2JSException } from 're2js'

const MAX_PATTERN = 1000
const MAX_PROGRAM = 500

export interface Pattern {
  test(text: string): boolean
}

/** The message is shown to the author of the expression. */
export class UnusablePattern extends Error {}

/**
 * Compiles the regular expression of a user. It ignores case unless it contains `(?-i)`, and `^` and
 * `$` match at line ends. RE2 runs in linear time, so it has no look-around and no backreferences.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_PATTERN) {
    throw new UnusablePattern(`Must have at most ${MAX_PATTERN} characters`)
  }
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new UnusablePattern(
      `Is no usable regular expression (RE2 syntax): ${error.message.replace(/^error parsing regexp: /, '')}`,
    )
  }
  if (compiled.programSize() > MAX_PROGRAM) {
    throw new UnusablePattern('Is too large a regular expression; use fewer repetitions')
  }
  return { test: (text) => compiled.test(text) }
}
