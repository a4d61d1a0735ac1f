import { RE2JS, RE2JSException } from 're2js'

export const MAX_PATTERN = 1000
const MAX_PROGRAM = 500

export interface Pattern {
  test(text: string): boolean
}

/** Why an expression cannot be used; its message is for whoever wrote it. */
export class UnusablePattern extends Error {}

/**
 * An expression of a user's, in any case unless it says `(?-i)`, with `^` and `$` at the ends of
 * lines. It runs in linear time; look-around and references back are therefore unknown to it.
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
