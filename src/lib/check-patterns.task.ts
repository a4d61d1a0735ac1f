import { compilePattern, UnusablePattern } from './patterns.ts'

export interface CheckedPattern {
  /** The reason why the expression cannot be used. */
  problem: string | undefined
  matchesEmptyText: boolean
}

/** Compiling 200 expressions can take seconds: runs in a worker thread. */
export default (sources: readonly string[]): CheckedPattern[] => sources.map(checked)

function checked(source: string): CheckedPattern {
  try {
    return { problem: undefined, matchesEmptyText: compilePattern(source).test('') }
  } catch (error) {
    if (!(error instanceof UnusablePattern)) throw error
    return { problem: error.message, matchesEmptyText: false }
  }
}
