import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchIngest } from './edge/ingest.ts'
import { benchMailHost } from './edge/mail-host.ts'
import { benchPolicy } from './edge/policy.ts'
import { benchRestarts } from './edge/restarts.ts'

/** Benchmarks of the mail servers by name. Each returns whether its results are correct. */
const parts: Record<string, () => Promise<boolean>> = {
  policy: benchPolicy,
  'mail-host': benchMailHost,
  restarts: () => benchRestarts({ restarts: Number(values.restarts) }),
  ingest: () => benchIngest(values.lines === undefined ? {} : { lines: Number(values.lines) }),
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    lines: { type: 'string' },
    restarts: { type: 'string', default: '50' },
  },
})
process.stdout.write(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores\n`)
for (const [name, run] of Object.entries(parts)) {
  // Fifty restarts take half an hour, so they run only when they are asked for.
  if (values.only === '' ? name === 'restarts' : values.only !== name) continue
  if (!(await run())) process.exitCode = 1
}
