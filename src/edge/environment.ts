import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What a private edge tells the server on the same data folder. */
export type EdgeEnvironment = Readonly<Record<string, string>>

const NOTHING: EdgeEnvironment = {}
const known = new Map<string, { stamp: string; values: EdgeEnvironment }>()

/** As the edge wrote it last: a server may be older than the edge beside it. */
export function edgeEnvironment(dataDir: string): EdgeEnvironment {
  const file = join(dataDir, 'edge', 'edge.env')
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (!stat) return NOTHING
    const stamp = `${stat.ino} ${stat.mtimeMs} ${stat.size}`
    const before = known.get(file)
    if (before?.stamp === stamp) return before.values
    const values = Object.fromEntries(
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.includes('='))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    known.set(file, { stamp, values })
    return values
  } catch {
    // Somebody else's edge: its secrets are not ours to read.
    return NOTHING
  }
}
