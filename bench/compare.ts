import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGenerator } from './generator.ts'
import type { LoadRequest } from './load.ts'
import { type Measured, type Result, summarize } from './report.ts'
import { type Started, stopAll } from './servers.ts'

export interface Target {
  name: string
  request: LoadRequest
}

const CONNECTIONS = 32
const ROUNDS = 5
const WARM_UP_MS = 2000
const SETTLE_MS = 200
const MEASURE_MS = 2000

/** Starts the servers in a temporary folder, measures them in rotation, and stops them. */
export async function compare(
  startTargets: (folder: string, started: Started[]) => Promise<Target[]>,
): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-bench-'))
  const started: Started[] = []
  const stop = async () => {
    await stopAll(started)
    rmSync(folder, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().then(() => process.exit(1)))
  }
  try {
    return await measureAll(await startTargets(folder, started), started)
  } finally {
    await stop()
  }
}

async function measureAll(targets: Target[], started: Started[]): Promise<Result[]> {
  const generator = startGenerator(started)
  const measure = (target: Target, settleMs: number, measureMs: number) =>
    generator.run({ ...target.request, connections: CONNECTIONS, settleMs, measureMs })

  for (const target of targets) await measure(target, 0, WARM_UP_MS)
  const measured: Measured[] = targets.map(({ name }) => ({ name, rounds: [] }))
  // In rotation, so that other load on the machine affects all targets equally.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, target] of targets.entries()) {
      measured[index]?.rounds.push(await measure(target, SETTLE_MS, MEASURE_MS))
    }
  }
  return summarize(measured)
}
