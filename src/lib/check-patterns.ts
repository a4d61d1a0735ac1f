import type { CheckedPattern } from './check-patterns.task.ts'
import { taskIn, type WorkerPool } from './worker-pool.ts'

const TIME_LIMIT_MS = 5000
const task = taskIn<typeof import('./check-patterns.task.ts')>('lib/check-patterns')

/** Compiles regular expressions of a user and returns the result for each. */
export async function checkPatterns(
  workers: Pick<WorkerPool, 'run'>,
  owner: string,
  sources: readonly string[],
): Promise<Map<string, CheckedPattern>> {
  if (sources.length === 0) return new Map()
  const checked = await workers.run(task, sources, { owner, timeLimitMs: TIME_LIMIT_MS })
  return new Map(sources.map((source, index) => [source, checked[index] as CheckedPattern]))
}
