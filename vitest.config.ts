import { defineConfig } from 'vitest/config'

const lane = (name: string, include: string[], setup: string[] = []) => ({
  test: {
    name,
    include,
    isolate: false,
    pool: 'forks' as const,
    globalSetup: ['test/support/postgres.ts', ...setup],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})

// One server per run, one cloned database per file; files share a process, which is most of the speed.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      lane('api', ['src/**/*.test.ts']),
      lane('contract', ['test/*.test.ts']),
      lane('faults', ['test/faults/*.test.ts'], ['test/support/built.mjs']),
      lane('mail', ['test/mail/*.test.ts']),
    ],
  },
})
