// Runs a benchmark of bench/ against the built server: `bench.mjs` runs run.ts, `bench.mjs scale` runs
// scale.ts, and so on. Needs the bundled Node, which runs TypeScript directly.
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
