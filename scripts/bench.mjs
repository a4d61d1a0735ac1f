// Runs a benchmark of bench/ on the bundled Node, which reads TypeScript as it is, against the server as
// built: `bench.mjs` for run.ts, `bench.mjs scale` for scale.ts, `bench.mjs webhooks` for webhooks.ts.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundledNode, prepare, root } from './prepare.mjs'

await prepare()
const [name = 'run', ...options] = process.argv[2]?.startsWith('-')
  ? ['run', ...process.argv.slice(2)]
  : process.argv.slice(2)
const bench = [join(root, 'bench', `${name}.ts`), ...options]
const { status } = spawnSync(bundledNode() ?? process.execPath, bench, { stdio: 'inherit' })
process.exitCode = status ?? 1
