import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startGenerator } from './generator.ts'
import { type Measured, report, summarize } from './report.ts'
import { type Started, stopAll } from './servers.ts'
import { startTargets } from './targets.ts'

const CONNECTIONS = 32
const ROUNDS = 5
const WARM_UP_MS = 2000
const SETTLE_MS = 200
const MEASURE_MS = 2000

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
const folder = mkdtempSync(join(tmpdir(), 'mailplane-bench-'))
const started: Started[] = []

async function stop() {
  await stopAll(started)
  rmSync(folder, { recursive: true, force: true })
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop().then(() => process.exit(1)))
}

try {
  const targets = await startTargets(folder, started)
  const generator = startGenerator(started)
  const measure = (target: (typeof targets)[number], settleMs: number, measureMs: number) =>
    generator.run({ ...target.request, connections: CONNECTIONS, settleMs, measureMs })

  for (const target of targets) await measure(target, 0, WARM_UP_MS)
  const measured: Measured[] = targets.map(({ name }) => ({ name, rounds: [] }))
  // In rotation, so that whatever else the machine does meets all of them alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, target] of targets.entries()) {
      measured[index]?.rounds.push(await measure(target, SETTLE_MS, MEASURE_MS))
    }
  }
  const results = summarize(measured)
  process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : report(results))
} finally {
  await stop()
}
