import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchIngest } from './edge/ingest.ts'
import { benchMailHost } from './edge/mail-host.ts'
import { benchPolicy } from './edge/policy.ts'

/** What is measured at the mail servers, by name; each part says whether its results are right. */
const parts: Record<string, () => Promise<boolean>> = {
  policy: benchPolicy,
  'mail-host': benchMailHost,
  ingest: () => benchIngest(values.lines === undefined ? {} : { lines: Number(values.lines) }),
}

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, lines: { type: 'string' } },
})
process.stdout.write(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores\n`)
for (const [name, run] of Object.entries(parts)) {
  if (values.only !== '' && values.only !== name) continue
  if (!(await run())) process.exitCode = 1
}
