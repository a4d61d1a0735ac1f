import { lruMap } from '../../../lib/lru-map.ts'
import { compilePattern, type Pattern } from '../../../lib/patterns.ts'

const compiled = lruMap<string, Pattern>(2000)

/** The first of the expressions that matches; undefined if none does. Runs in a worker thread. */
export default ({ text, patterns }: { text: string; patterns: readonly string[] }) =>
  patterns.find((source) => {
    let pattern = compiled.get(source)
    if (!pattern) {
      pattern = compilePattern(source)
      compiled.set(source, pattern)
    }
    return pattern.test(text)
  })
