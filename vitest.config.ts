import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

interface Lane {
  include: string[]
  exclude?: string[]
  /** Global setup files; their order is the order of the list. */
  setup?: string[]
  timeoutSeconds?: number
}

// Files of a lane share a process: most of the time of a small test is loading the app.
const lane = (name: string, { include, exclude = [], setup = [], timeoutSeconds = 240 }: Lane) => ({
  test: {
    name,
    include,
    exclude,
    isolate: false,
    // Node runs TypeScript itself, so that Vite does not transform a thousand files for each lane.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks' as const,
    // The heap grows early: collecting garbage often costs more than the memory.
    execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=16'],
    globalSetup: setup,
    testTimeout: timeoutSeconds * 1000,
    // A machine that shares its cores may be ten times slower for minutes.
    hookTimeout: 600_000,
    // One second unless set, which a busy machine does not keep.
    expect: { poll: { timeout: 180_000 } },
  },
})

const UNIT = ['src/**/*.unit.test.ts', 'test/*.unit.test.ts', 'web/**/*.unit.test.ts']
const database = 'test/support/postgres.ts'
const build = 'test/support/built.mjs'

/** Lanes whose tests mostly wait come first, so that short files fill the gaps at the end. */
const LANES = [
  lane('faults', {
    include: ['test/faults/*.test.ts'],
    setup: [database, build],
    timeoutSeconds: 600,
  }),
  lane('mail', { include: ['test/mail/*.test.ts'], setup: [database, build], timeoutSeconds: 600 }),
  lane('web', { include: ['test/web/*.test.ts'], setup: [database, build], timeoutSeconds: 600 }),
  lane('cluster', {
    include: ['test/cluster/*.test.ts'],
    setup: [database, build],
    timeoutSeconds: 600,
  }),
  lane('clients', { include: ['test/clients/*.test.ts'], setup: [database], timeoutSeconds: 600 }),
  lane('contract', { include: ['test/*.test.ts'], exclude: UNIT, setup: [database] }),
  lane('api', { include: ['src/**/*.test.ts'], exclude: UNIT, setup: [database] }),
  lane('unit', { include: UNIT }),
]

class LanesInOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const place = ({ project }: TestSpecification) =>
      LANES.findIndex(({ test }) => test.name === project.name)
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  test: {
    // More than the cores: many tests wait for mail servers and processes that they started.
    maxWorkers: 3,
    sequence: { sequencer: LanesInOrder },
    projects: LANES,
  },
})
