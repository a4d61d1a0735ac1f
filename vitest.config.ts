import { defineConfig } from 'vitest/config'
import { isTypeQuery } from './src/database/type-query.ts'

const lane = (
  name: string,
  include: string[],
  more: { setup?: string; seconds?: number } = {},
) => ({
  test: {
    name,
    include,
    isolate: false,
    pool: 'forks' as const,
    globalSetup: ['test/support/postgres.ts', ...(more.setup ? [more.setup] : [])],
    testTimeout: (more.seconds ?? 30) * 1000,
    hookTimeout: 60_000,
  },
})

// One server per run, one cloned database per file; files share a process, which is most of the speed.
export default defineConfig({
  test: {
    maxWorkers: 2,
    onUnhandledError: (error) => !isTypeQuery(error),
    projects: [
      lane('api', ['src/**/*.test.ts']),
      lane('contract', ['test/*.test.ts']),
      lane('faults', ['test/faults/*.test.ts'], { setup: 'test/support/built.mjs', seconds: 90 }),
      lane('mail', ['test/mail/*.test.ts'], { setup: 'test/support/built.mjs', seconds: 60 }),
    ],
  },
})
