import { parseArgs } from 'node:util'
import { compare } from './compare.ts'
import { aims, report } from './report.ts'
import { startTargets } from './targets.ts'

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
const results = await compare(startTargets)
process.stdout.write(
  values.json ? `${JSON.stringify(results, null, 2)}\n` : report(results, aims(results)),
)
