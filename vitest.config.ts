import { defineConfig } from 'vitest/config'

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
    // postgres.js asks for the array types on every new connection and lets nobody hear of it when the
    // connection is closed meanwhile; there is nothing to hear.
    onUnhandledError: ({ code, message }: { code?: string; message: string }) =>
      !(code === 'CONNECTION_DESTROYED' || message.includes('CONNECTION_DESTROYED')),
    projects: [
      lane('api', ['src/**/*.test.ts']),
      lane('contract', ['test/*.test.ts']),
      lane('faults', ['test/faults/*.test.ts'], { setup: 'test/support/built.mjs', seconds: 90 }),
      lane('mail', ['test/mail/*.test.ts'], { setup: 'test/support/built.mjs', seconds: 60 }),
    ],
  },
})
